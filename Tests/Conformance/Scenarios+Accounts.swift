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
            try await tablet.call("RegisterPush", ["token": "a token", "platform": "ios"])
            try await tablet.call("UnregisterPush")
            try await anna.call("Undo", ["refreshToken": .string(anna.refreshToken)])
            try await tablet.ask("ResetPassword", ["newPassword": "a thief's password"])
            try await anna.call("GetAccount")
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
            try await bob.call("RequestRoleChange", toAnna)
            try await bob.call("WithdrawRoleChange", toAnna)
            try await bob.call("RequestRoleChange", toAnna)
            try await anna.call("AcceptRoleChange", toBob)
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
    ]
}
