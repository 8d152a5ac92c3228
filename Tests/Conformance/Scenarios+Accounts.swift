import EdgeClient

extension Scenario {
    static let ofAccounts = [
        Scenario(name: "devices: signing in, exchanging tokens, what a thief changed, and the end of the account") {
            stage in
            let anna = try await stage.signUp("Anna")
            let tablet = try await anna.signIn()
            try await tablet.call("ListOperations", ["limit": 5])
            try await tablet.ask("GetStreamHashes")
            try await tablet.call("GetTime")
            let view = try await tablet.watch()
            let begun = try await view.see("begun")
            try await tablet.call("ExtendStream", ["stream": begun["stream"]])
            try await tablet.call("ExtendStream", ["stream": "nonsense"])
            view.leave()
            try await tablet.call("MakeRecoveryCodes")
            try await tablet.call("RemoveAvatar")
            try await tablet.call("RemovePhone")
            try await tablet.call("RegisterPush", ["token": "a-token", "platform": "ios"])
            try await tablet.call("UnregisterPush")
            try await anna.call("Undo", ["refreshToken": .string(anna.refreshToken)])
            try await tablet.ask("ResetPassword", ["newPassword": "a thief's password"])
            try await anna.askUntilRefused("GetAccount", [:])
            try await anna.call("Undo", ["refreshToken": .string(anna.refreshToken)])
            let again = try await anna.signIn()
            try await again.call("RefreshToken", ["refreshToken": .string(again.refreshToken)])
            try await again.call("UpdateSecurity", ["isConfirmationRequired": true])
            for call in ["MakeRecoveryCodes", "RemovePhone"] { try await again.ask(call) }
            try await again.ask("ResetPassword", ["newPassword": .string(Stage.password)])
            try await again.ask("UpdateSecurity", ["isConfirmationRequired": false])
            try await again.ask("SignOut", ["everywhere": true])
            let last = try await anna.signIn()
            try await last.ask("Confirm", ["password": .string(Stage.password)])
            try await last.ask("CloseAccount")
        },
        Scenario(name: "requests between people, and their ends") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let (toAnna, toBob): (JSON, JSON) = (["contact": .string(anna.account)], ["contact": .string(bob.account)])
            for call in [
                "ApproveContactRequest", "DeclineContactRequest", "WithdrawContactRequest", "RequestRoleChange",
                "AcceptRoleChange", "DeclineRoleChange", "WithdrawRoleChange", "UpdateContact", "RemoveContact",
                "SendPing",
                "CancelPing", "RespondToPing",
            ] {
                // Nothing is between them.
                var message = toBob.members
                if call == "ApproveContactRequest" {
                    message.merge(["isMyResponder": true, "iAmResponder": false]) { $1 }
                }
                if call == "UpdateContact" { message["expectedVersion"] = 0 }
                try await anna.ask(call, .object(message))
            }
            try await bob.ask("ResetContactCode")
            try await bob.call("SetContactApproval", ["isRequired": true])
            let asking: JSON = ["handle": .string(bob.handle), "isMyResponder": true]
            try await anna.call("AddContact", asking)
            try await anna.call("AddContact", asking)
            try await bob.call("DeclineContactRequest", toAnna)
            try await anna.call("AddContact", asking)
            try await anna.call("WithdrawContactRequest", toBob)
            try await anna.call("AddContact", asking)
            try await bob.call(
                "ApproveContactRequest",
                ["contact": .string(anna.account), "isMyResponder": false, "iAmResponder": true])
            // Who asks becomes a responder.
            try await anna.call("RequestRoleChange", toBob)
            try await anna.call("WithdrawRoleChange", toBob)
            try await anna.call("RequestRoleChange", toBob)
            try await bob.call("DeclineRoleChange", toAnna)
            try await anna.call("RequestRoleChange", toBob)
            try await bob.call("AcceptRoleChange", toAnna)
            try await bob.ask(
                "UpdateContact", ["contact": .string(anna.account), "expectedVersion": 1, "isMyResponder": true])
            try await anna.call("SendPing", toBob)
            try await anna.call("CancelPing", toBob)
            try await anna.ask("SendPing", toBob)
            try await bob.call("RespondToPing", toAnna)
            try await bob.finish(try await bob.ask("RespondToAllPings"))
            try await bob.ask("ShowNotifications", ["ids": [.string(EdgeClient.newKey())]])
            try await bob.call("BlockContact", toAnna)
            try await anna.ask("AddContact", asking)
            try await bob.call("UnblockContact", toAnna)
        },
        Scenario(name: "passwords, codes and tokens that aren't good") { stage in
            let anna = try await stage.signUp("Anna")
            let tablet = try await anna.signIn()
            let password: JSON = .string(Stage.password)
            // Who asks belongs to the request.
            let key = EdgeClient.newKey()
            try await anna.call("MakeRecoveryCodes", key: key)
            try await tablet.call("MakeRecoveryCodes", key: key)
            for new in [password, "password123"] {
                try await anna.call("ChangePassword", ["password": password, "newPassword": new])
            }
            try await anna.call("VerifyPhone", ["phoneCode": .string(EdgeClient.newKey()), "code": "123456"])
            for _ in 0..<5 { try await tablet.call("Confirm", ["password": "not this one"]) }
            try await tablet.call("Confirm", ["password": password])
            for _ in 0..<2 { try await tablet.ask("RefreshToken", ["refreshToken": .string(tablet.refreshToken)]) }
        },
        Scenario(name: "what one contact can't do to another") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let (toAnna, toBob): (JSON, JSON) = (["contact": .string(anna.account)], ["contact": .string(bob.account)])
            let code = try await bob.call("ListContacts")["code"]
            try await anna.ask("AddContact", ["code": code])
            try await anna.ask("AddContact", ["code": code, "isMyResponder": true])
            func update(_ changes: [String: JSON]) async throws {
                try await anna.ask(
                    "UpdateContact",
                    .object(changes.merging(toBob.members) { $1 }.merging(["expectedVersion": 1]) { $1 }))
            }
            try await update(["iAmResponder": true])
            try await update(["isMyResponder": false])
            try await anna.ask("SendPing", toBob)
            for call in ["AcceptRoleChange", "DeclineRoleChange", "WithdrawRoleChange"] {
                try await anna.ask(call, toBob)
            }
            try await update(["receivePings": false])
            try await bob.ask("SendPing", toAnna)
            try await anna.ask("BlockContact", toBob)
            try await anna.ask("AddContact", ["handle": .string(bob.handle), "isMyResponder": true])
        },
    ]
}
