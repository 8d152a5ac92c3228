import EdgeClient

extension Scenario {
    /// A file of one byte, `a`: the hash of its chunk's hash.
    private static let file = "bf5d3affb73efd2ec6c36ad3112dd933efed63c4e1cbffcfa88e2759c144f2d8"
    private static let nothing = "01a1fc74-9a5b-7000-8000-000000000000"
    private static let activity: JSON = ["identifier": "org.example.game", "title": "A game", "type": "generic"]

    /// Anna's session, which Bob has joined.
    private static func together(_ stage: Stage, joins: Bool = true) async throws -> (Actor, Actor, String) {
        let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
        let code = try await bob.call("ListContacts")["code"]
        try await anna.call("AddContact", ["code": code, "iAmResponder": true])
        let made = try await anna.ask(
            "CreateGroupSession", ["activity": activity, "seats": 3, "capacity": 4])["result"]["group"]
        guard let group = made.string else { throw Failure(description: "there is no group session") }
        try await anna.ask("ActivateGroupSession", ["group": made, "contacts": [.string(bob.account)]])
        if joins { try await bob.ask("JoinGroupSession", ["group": made]) }
        return (anna, bob, group)
    }

    static let ofGroups = [
        Scenario(name: "a group session that isn't there, or is over, or that one was only invited to") { stage in
            let (anna, bob, group) = try await together(stage, joins: false)
            let carl = try await stage.signUp("Carl")
            let reads = ["GetGroupSession", "ListGroupMessages", "GetGame"]
            func askAll(_ actor: Actor, _ group: String, but skipped: Set<String> = []) async throws {
                let commands = GroupRequests.all(to: group, with: anna.account, file: file)
                for (name, message) in commands.sorted(by: { $0.key < $1.key }) where !skipped.contains(name) {
                    try await actor.ask(name, message)
                }
                for name in reads { try await actor.ask(name, ["group": .string(group)]) }
                // The server hears a moment later that somebody is no longer in a session.
                try await actor.askUntilRefused("SendSignal", ["group": .string(group), "topic": "org.example.cursor"])
            }
            try await askAll(carl, nothing)
            try await askAll(carl, group)
            // Invited, and not there.
            try await askAll(bob, group, but: ["JoinGroupSession", "LeaveGroupSession"])
            try await anna.ask("EndGroupSession", ["group": .string(group)])
            try await askAll(anna, group)
            try await anna.ask(
                "ActivateGroupSession", ["group": .string(group), "contacts": [.string(bob.account)]])
        },
        Scenario(name: "who may come in, and in how many group sessions somebody may be") { stage in
            let (anna, bob, group) = try await together(stage, joins: false)
            let only: JSON = ["group": .string(group)]
            func own(_ number: Int) -> JSON {
                let activity: JSON = [
                    "identifier": .string("org.example.own\(number)"), "title": "Mine", "type": "generic",
                ]
                // It goes on while nobody is connected.
                return ["activity": activity, "capacity": 1]
            }
            let carl = try await stage.signUp("Carl", isNamed: false)
            let code = try await carl.call("ListContacts")["code"]
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            try await anna.ask(
                "ActivateGroupSession", ["group": .string(group), "contacts": [.string(carl.account)]])
            try await carl.ask("JoinGroupSession", only)
            try await carl.ask("CreateGroupSession", own(0))
            // Bob is in another session of the same activity.
            let other = try await bob.ask("CreateGroupSession", ["activity": activity])["result"]["group"]
            try await bob.ask("JoinGroupSession", only)
            try await bob.ask("LeaveGroupSession", ["group": other])
            let first = try await bob.ask("CreateGroupSession", own(1))["result"]["group"]
            try await bob.ask("ActivateGroupSession", ["group": first, "contacts": [.string(anna.account)]])
            for number in 2...20 { try await bob.ask("CreateGroupSession", own(number)) }
            try await bob.ask("CreateGroupSession", own(21))
            try await bob.ask("JoinGroupSession", only)
        },
        Scenario(name: "seats, games, and who is the host") { stage in
            let (anna, bob, group) = try await together(stage)
            let only: JSON = ["group": .string(group)]
            func with(_ members: [String: JSON]) -> JSON { .object(members.merging(only.members) { $1 }) }
            try await bob.ask("MoveSeat", with(["seat": 1]))
            try await anna.ask("StartGame", only)
            try await anna.ask("ClaimSeat", with(["seat": 0]))
            try await anna.ask("ClaimSeat", with(["seat": 1]))
            try await bob.ask("ClaimSeat", with(["seat": 30]))
            try await bob.ask("ClaimSeat", with(["seat": 1]))
            try await bob.ask("MoveSeat", with(["seat": 0]))
            try await bob.ask("MoveSeat", with(["seat": 30]))
            try await bob.ask("MoveSeat", with(["seat": 2]))
            try await bob.ask("ReleaseSeat", with(["participant": .string(anna.account)]))
            try await anna.ask("ReleaseSeat", with(["participant": .string(nothing)]))
            for name in ["GetGame", "UpdateGame", "FinishGame"] {
                var message = only.members
                if name != "GetGame" { message["expectedVersion"] = 1 }
                if name == "UpdateGame" { message["patch"] = [:] }
                try await bob.ask(name, .object(message))
            }
            try await anna.ask(
                "StartGame", with(["lead": 0, "state": ["turn": .string(anna.account)], "turnField": "turn"]))
            try await anna.ask("StartGame", only)
            try await bob.ask("UpdateGame", with(["expectedVersion": 1, "patch": ["x": 1]]))
            try await anna.ask("UpdateGame", with(["expectedVersion": 9, "patch": ["x": 1]]))
            try await anna.ask("FinishGame", with(["expectedVersion": 9]))
            try await bob.ask("ReleaseSeat", only)
            try await bob.ask("FinishGame", with(["expectedVersion": 1]))
            try await anna.ask("FinishGame", with(["expectedVersion": 1]))
            for name in ["RemoveParticipant", "TransferHost"] {
                let field = name == "TransferHost" ? "to" : "participant"
                try await anna.ask(name, with([field: .string(nothing)]))
                try await bob.ask(name, with([field: .string(anna.account)]))
            }
            try await bob.ask("EndGroupSession", only)
            try await bob.ask("ActivateGroupSession", with(["contacts": [.string(anna.account)]]))
            try await anna.ask("TransferHost", with(["to": .string(bob.account)]))
            try await bob.ask("RemoveParticipant", with(["participant": .string(anna.account)]))
            for name in ["JoinGroupSession", "GetGroupSession", "ListGroupMessages", "GetGame"] {
                try await anna.ask(name, only)
            }
            try await anna.askUntilRefused("SendSignal", with(["topic": "org.example.cursor"]))
            try await bob.ask("LeaveGroupSession", only)
            try await bob.ask("GetGame", only)
        },
        Scenario(name: "messages and attachments") { stage in
            let (anna, bob, group) = try await together(stage)
            let only: JSON = ["group": .string(group)]
            func with(_ members: [String: JSON]) -> JSON { .object(members.merging(only.members) { $1 }) }
            let large = JSON.string(String(repeating: "a", count: 40_000))
            try await anna.ask("SendGroupMessage", with(["type": "x", "to": [.string(nothing)]]))
            try await anna.ask("SendGroupMessage", with(["type": "x", "data": ["text": large]]))
            try await anna.ask("SendSignal", with(["topic": "x", "to": [.string(nothing)]]))
            try await anna.ask("SendSignal", with(["topic": "x", "data": ["text": large]]))
            let attachment = with(["attachment": .string(file)])
            let range = with(["attachment": .string(file), "first": 0, "count": 1])
            let whole = with([
                "attachment": .string(file), "chunks": 1, "name": "a.txt", "contentType": "text/plain",
            ])
            for (name, message) in [
                ("AdoptChunks", range), ("CompleteAttachment", whole), ("RemoveAttachment", attachment),
            ] {
                try await anna.ask(name, message)
            }
            try await anna.ask("BeginAttachment", with(["attachment": .string(file), "size": 1]))
            try await bob.ask("RemoveAttachment", attachment)
            try await bob.ask("BeginAttachment", with(["attachment": .string(file), "size": 1]))
            try await anna.ask("AdoptChunks", range)
            try await anna.ask("CompleteAttachment", whole)
            // Chunks come by HTTP alone.
            try await stage.upload([UInt8(ascii: "a")], as: file, by: anna)
            try await anna.ask("AdoptChunks", range)
            try await anna.ask("CompleteAttachment", whole)
            try await anna.ask("BeginAttachment", with(["attachment": .string(file), "size": 1]))
            for actor in [anna, bob] { try await actor.ask("CompleteAttachment", whole) }
            for actor in [bob, anna] { try await actor.ask("RemoveAttachment", attachment) }
        },
        Scenario(name: "chunks that aren't those of their attachment, and too many signals") { stage in
            let (anna, _, group) = try await together(stage)
            let other = String(repeating: "0", count: 64)
            func with(_ members: [String: JSON]) -> JSON {
                .object(members.merging(["group": .string(group), "attachment": .string(other)]) { $1 })
            }
            try await anna.ask("BeginAttachment", with(["size": 1]))
            for bytes in [Array("aa".utf8), Array("a".utf8)] {
                try await stage.upload(bytes, as: other, by: anna)
                try await anna.ask("AdoptChunks", with(["first": 0, "count": 1]))
            }
            try await anna.ask(
                "CompleteAttachment", with(["chunks": 1, "name": "a.txt", "contentType": "text/plain"]))
            try await anna.askUntilRefused(
                "SendSignal", ["group": .string(group), "topic": "org.example.flood"], atOnce: 100)
        },
        Scenario(name: "what plays, the queue, and waiting for each other") { stage in
            let (anna, bob, group) = try await together(stage)
            let only: JSON = ["group": .string(group)]
            func with(_ members: [String: JSON]) -> JSON { .object(members.merging(only.members) { $1 }) }
            func item(_ number: Int) -> JSON {
                [
                    "id": .string("01a1fc74-9a5b-7000-8000-\(100_000_000_000 + number)"), "title": "A song",
                    "duration": 60_000_000,
                ]
            }
            let id = { item($0)["id"] }
            try await anna.ask("QueueMove", with(["item": id(1)]))
            try await anna.ask("PlayItem", with(["item": item(1), "lead": 0]))
            try await anna.ask("PlayItem", with(["item": item(1), "expectedItem": id(2), "lead": 0]))
            try await anna.ask("QueueInsert", with(["items": [item(2), item(3), item(4)]]))
            try await bob.ask("QueueMove", with(["item": id(3), "before": id(2)]))
            try await bob.ask("QueueRemove", with(["items": [id(4)]]))
            try await anna.ask("SetPlayback", with(["expectedItem": id(2), "isPlaying": false]))
            try await anna.ask("SetPlayback", with(["expectedItem": id(1), "expectedVersion": 90, "isPlaying": false]))
            try await anna.ask("SetPlayback", with(["expectedItem": id(1), "isPlaying": false]))
            try await anna.ask("NextItem", with(["expectedItem": id(2), "lead": 0]))
            try await anna.ask("NextItem", with(["expectedItem": id(1), "lead": 0]))
            try await bob.ask("BeginSuspension", with(["reason": "stalled"]))
            try await bob.ask("DeclareReadiness", only)
            try await bob.ask("BeginSuspension", with(["reason": "stalled"]))
            try await bob.ask("EndSuspension", only)
            try await anna.ask("DeclareReadiness", only)
            try await anna.ask("BeginSuspension", with(["reason": "stalled", "participantLimit": 1]))
            for first in [100, 200, 300, 400, 500] {
                try await anna.ask("QueueInsert", with(["items": .array((first..<first + 25).map(item))]))
            }
        },
    ]
}
