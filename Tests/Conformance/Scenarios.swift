import EdgeClient

/// Something that people do, which must come out the same over whatever carries it.
struct Scenario: Sendable {
    let name: String
    let play: @Sendable (Stage) async throws -> Void

    static let all = stories + ofAccounts + ofGroups + ofStreams

    private static let stories = [
        Scenario(name: "an account, its profile and its security") { stage in
            let anna = try await stage.signUp("Anna")
            try await anna.call("GetAccount")
            try await anna.call("UpdateProfile", ["expectedVersion": 0, "name": "Anna Berg"])
            try await anna.call("UpdateProfile", ["expectedVersion": 0, "name": "Anna Stein"])
            try await anna.call("UpdateProfile", ["expectedVersion": 1, "name": ""])
            try await anna.call("UpdateSecurity", ["isSingleDevice": true])
            try await anna.call("MakeRecoveryCodes")
            try await anna.call("Confirm", ["password": "not this one"])
            try await anna.call("Confirm", ["password": .string(Stage.password)])
            try await anna.call(
                "ChangePassword", ["password": .string(Stage.password), "newPassword": "quite another password"])
            try await anna.call("GetAccount")
            try await anna.call("SignOut")
            try await anna.call("GetAccount")
        },
        Scenario(name: "two people who become contacts, ping each other and see it live") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let views = (anna: try await anna.watch(), bob: try await bob.watch())
            for view in [views.anna, views.bob] {
                for stream in ["account", "contacts", "notifications", "operations"] {
                    try await view.see("\(stream).snapshot")
                }
            }
            let code = try await bob.call("ListContacts")["code"]
            try await anna.call("GetContactCodeOwner", ["code": code])
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            try await anna.call("AddContact", ["code": code, "handle": .string(bob.handle)])
            try await views.bob.see("ContactAdded")
            try await views.anna.see("person") { $0["account"].string == bob.account }
            try await anna.call("SendPing", ["contact": .string(bob.account)])
            try await anna.call("SendPing", ["contact": .string(bob.account)])
            try await anna.call("SendPing", ["contact": .string(anna.account)])
            try await views.bob.see("PingReceived")
            try await anna.call("ListContacts", ["ping": "outgoing", "limit": 5])
            try await bob.finish(try await bob.call("ClearAllReceivedPings", ["checkIn": true]))
            try await views.anna.see("PingAnswered")
            try await views.bob.see("OperationEnded")
            try await anna.call(
                "UpdateContact", ["contact": .string(bob.account), "expectedVersion": 1, "nickname": "Bobby"])
            try await anna.call("GetContact", ["account": .string(bob.account)])
            try await bob.call("RemoveContact", ["contact": .string(anna.account)])
            try await views.anna.see("person.ended")
            for view in [views.anna, views.bob] { view.leave() }
        },
        Scenario(name: "consent: becoming somebody's responder") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            try await bob.call("SetContactApproval", ["isRequired": true])
            try await anna.call("AddContact", ["handle": .string(bob.handle), "isMyResponder": true])
            try await bob.call("ListContacts")
            try await bob.call("ApproveContactRequest", ["contact": .string(anna.account), "isMyResponder": true])
            try await bob.call(
                "ApproveContactRequest",
                ["contact": .string(anna.account), "isMyResponder": true, "iAmResponder": false])
            try await bob.call("ListContacts", ["role": "nonsense"])
            try await anna.call("RequestRoleChange", ["contact": .string(bob.account)])
            try await anna.call("DeclineRoleChange", ["contact": .string(bob.account)])
            try await anna.call("BlockContact", ["contact": .string(anna.account)])
        },
        Scenario(name: "check-ins and alerts, and what a responder sees of them") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let code = try await bob.call("ListContacts")["code"]
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            let view = try await anna.watch()
            try await view.see("contacts.snapshot")
            try await bob.call("SetCheckInInterval", ["interval": 1])
            try await bob.call("SetCheckInInterval", ["interval": .int(86_400_000_000)])
            try await bob.call("SetCheckInReminders", ["reminders": ["twoHours", "thirtyMinutes"]])
            try await bob.call("SetCheckInReminders", ["reminders": []])
            try await bob.call("SetCheckInGrace", ["grace": 600_000_000])
            try await bob.call("SetCheckInGrace", ["grace": 0])
            for zone in ["Europe/Berlin", "Europe/Nowhere"] as [JSON] {
                let times: JSON = [480, 1200]
                try await bob.call(
                    "SetDailyCheckIns", ["times": times, "weekdays": ["monday", "friday"], "zone": zone])
            }
            try await bob.call("SetCheckInInterval", ["interval": .int(86_400_000_000)])
            let tier: JSON = ["after": 900_000_000, "responders": [.string(anna.account)]]
            try await bob.call("SetResponderTiers", ["tiers": [tier]])
            try await bob.call("SetResponderTiers", ["tiers": [tier, tier]])
            try await bob.call("SetResponderTiers", ["tiers": []])
            for after in [1_800_000_000, 1, 0] as [Int64] {
                try await bob.call("SetPingEscalation", ["contact": .string(anna.account), "after": .int(after)])
            }
            try await bob.call("SetPingEscalation", ["after": 3_600_000_000])
            try await bob.call("SetPingEscalation")
            try await bob.call("SetPingQuietHours", ["quietHours": ["from": 1320, "to": 420]])
            try await bob.call("SetPingQuietHours", ["quietHours": ["from": 1320, "to": 1320]])
            try await bob.call("SetPingQuietHours")
            try await bob.call("PauseCheckIns", ["until": 1])
            try await bob.call("ResumeCheckIns")
            try await bob.call("StartTrip", ["name": "Lake", "eta": 1])
            try await bob.call("ExtendTrip", ["trip": "00000000-0000-7000-8000-000000000000", "eta": 1])
            try await bob.call(
                "EndTrip", ["trip": "00000000-0000-7000-8000-000000000000", "end": "arrived"])
            try await bob.call("SetCheckInReminders", ["reminders": ["nonsense"]])
            for call in ["RunDrill", "GetDrill"] { try await anna.call(call) }
            try await bob.call("RunDrill")
            try await view.see("NotificationDelivered") { "\($0)".contains("drillEnds") }
            try await bob.call("GetDrill")
            try await anna.call("AnswerDrill", ["id": .string(anna.account)])
            try await bob.call("CheckIn")
            try await bob.call("RaiseAlert")
            try await view.see("person") { $0["alertRaised"] != .null }
            // One that is about another alarm.
            try await bob.call("ClearAlert", ["alarm": "00000000-0000-7000-8000-000000000000"])
            try await bob.call("ClearAlert")
            try await bob.call("ClearAlert")
            let position = view.position
            view.leave()
            let again = try await anna.watch(after: position)
            try await again.see("contacts.resumed")
            try await again.see("notifications.resumed")
            again.leave()
        },
        Scenario(name: "notifications: reading, clearing, pages") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let view = try await bob.watch()
            try await view.see("notifications.snapshot")
            let code = try await bob.call("ListContacts")["code"]
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            try await view.see("NotificationDelivered")
            view.leave()
            let list = try await bob.call("ListNotifications", ["unread": true, "limit": 1])
            let id = list["notifications"][0]["id"]
            try await bob.call("GetNotification", ["id": id])
            try await bob.call("MarkRead", ["id": id])
            try await bob.call("MarkRead", ["id": .string(bob.account)])
            try await bob.call("MarkAllRead")
            try await bob.call("ListNotifications", ["limit": 0])
            try await bob.call("ListNotifications", ["before": "nonsense"])
            try await bob.call("ClearNotifications", ["selection": ["everything": true]])
            try await bob.call("ListNotifications")
        },
        Scenario(name: "reminders: setting, listing, taking back") { stage in
            let anna = try await stage.signUp("Anna")
            let view = try await anna.watch()
            try await view.see("notifications.snapshot")
            let now = try await anna.call("GetTime")["received"].int ?? 0
            let reminder = EdgeClient.newKey()
            let due = JSON.int(now + 3_600_000_000)
            try await anna.call("ScheduleReminder", ["id": .string(reminder), "text": "Tea", "due": due])
            try await view.see("NotificationScheduled")
            try await anna.call("ScheduleReminder", ["id": .string(reminder), "text": "", "due": due])
            try await anna.call("ScheduleReminder", ["id": .string(EdgeClient.newKey()), "text": "Tea", "due": 1])
            try await anna.call("ListReminders")
            try await anna.call("CancelReminder", ["id": .string(reminder)])
            try await view.see("ScheduledNotificationCancelled")
            try await anna.call("CancelReminder", ["id": .string(reminder)])
            try await anna.call("ListReminders")
            view.leave()
        },
        Scenario(name: "the same request twice, and what is wrong with others") { stage in
            let anna = try await stage.signUp("Anna")
            let key = EdgeClient.newKey()
            try await anna.call("SetContactApproval", ["isRequired": true], key: key)
            try await anna.call("SetContactApproval", ["isRequired": true], key: key)
            try await anna.call("SetContactApproval", ["isRequired": false], key: key)
            try await anna.call("SetContactApproval", ["isRequired": true], key: "nonsense")
            try await anna.call("SetContactApproval")
            try await anna.call("GetContact", ["account": "nonsense"])
            try await anna.call("GetContact", ["account": "01a1fc74-9a5b-7000-8000-000000000000"])
            try await anna.call("GetOperation", ["operation": "01a1fc74-9a5b-7000-8000-000000000000"])
            let stranger = Actor(name: "Nobody", handle: "", token: nil, account: "", stage: stage)
            for call in ["GetAccount", "CheckIn", "ListContacts", "ListGroupSessions", "SignOut"] {
                try await stranger.call(call)
            }
            try await stranger.call("SignIn", ["handle": .string(anna.handle), "password": "not this one"])
            try await stranger.call("SignIn", ["handle": .string(anna.handle)])
            try await stranger.call("SignUp", ["handle": .string(anna.handle), "password": .string(Stage.password)])
            try await stranger.call("RefreshToken", ["refreshToken": "nonsense"])
        },
        Scenario(name: "a group session with a game, messages and a queue") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let activity: JSON = [
                "identifier": "org.example.game", "title": "A game", "type": "generic",
                "payload": ["rules": [1, .double(2.5), nil]],
            ]
            let group = try await anna.call(
                "CreateGroupSession", ["activity": activity, "seats": 2, "capacity": 4])["result"]["group"]
            guard let id = group.string else { throw Failure(description: "there is no group session") }
            try await anna.call("CreateGroupSession", ["activity": activity])
            try await anna.call("ActivateGroupSession", ["group": group, "contacts": [.string(bob.account)]])
            let code = try await bob.call("ListContacts")["code"]
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            try await anna.call("ActivateGroupSession", ["group": group, "contacts": [.string(bob.account)]])
            try await bob.call("ListGroupSessions", ["open": true])
            let view = try await bob.watch([id])
            try await view.see("group.snapshot")
            try await bob.call("JoinGroupSession", ["group": group])
            try await anna.call("ClaimSeat", ["group": group, "seat": 0])
            try await bob.call("ClaimSeat", ["group": group, "seat": 0])
            try await bob.call("ClaimSeat", ["group": group, "seat": 1])
            try await bob.call("StartGame", ["group": group])
            try await anna.call(
                "StartGame",
                ["group": group, "lead": 0, "state": ["board": [], "turn": 1, "big": 4_503_599_627_370_497]])
            try await view.see("GameStarted")
            try await bob.call("UpdateGame", ["group": group, "expectedVersion": 1, "patch": ["turn": 2, "big": nil]])
            try await bob.call("UpdateGame", ["group": group, "expectedVersion": 1, "patch": ["turn": 3]])
            try await view.see("GameUpdated")
            try await anna.call("GetGame", ["group": group])
            try await anna.call("SendGroupMessage", ["group": group, "type": "hello", "data": ["text": "hi"]])
            try await view.see("GroupMessageSent")
            try await bob.call("ListGroupMessages", ["group": group, "limit": 10])
            try await anna.call(
                "QueueInsert",
                [
                    "group": group,
                    "items": [
                        ["id": "01a1fc74-9a5b-7000-8000-000000000001", "title": "A song", "duration": 1_000_000]
                    ],
                ])
            try await anna.call(
                "SendSignal", ["group": group, "topic": "org.example.cursor", "data": ["x": .double(1.25)]])
            try await anna.call("GetGroupSession", ["group": group])
            try await anna.call("EndGroupSession", ["group": group])
            try await view.see("group.ended")
            try await bob.call("GetGame", ["group": group])
            view.leave()
        },
    ]
}
