import EdgeClient
import RPCClient

extension Scenario {
    static let ofStreams = [
        Scenario(name: "a stream that carries little, and goes on where it was") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let code = try await bob.call("ListContacts")["code"]
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            let filter: [StreamFilter] = [
                .stream("contacts"), .type("PingReceived"), .type("PingAnswered"), .contact(anna.account),
            ]
            let view = try await bob.watch(only: filter)
            try await view.see("contacts.snapshot")
            try await bob.ask("ResetContactCode")
            try await anna.ask("SendPing", ["contact": .string(bob.account)])
            try await view.see("PingReceived")
            // What came before it in the same stream was left out.
            guard !view.has("ContactCodeReset") else {
                throw Failure(description: "the filter let through what it shouldn't")
            }
            let position = view.position
            view.leave()
            try await bob.ask("RespondToPing", ["contact": .string(anna.account)])
            let again = try await bob.watch(only: filter, after: position)
            try await again.see("contacts.resumed")
            try await again.see("PingAnswered")
            again.leave()
        },
        Scenario(name: "the hashes of the states, and somebody who follows twice") { stage in
            let anna = try await stage.signUp("Anna")
            let views = (try await anna.watch(), try await anna.watch())
            let hashes = try await stage.carrier.call("GetStreamHashes", [:], token: anna.token, key: nil)
            guard case .done(let reply) = hashes else { throw Failure(description: "there are no hashes") }
            for view in [views.0, views.1] {
                for stream in ["account", "contacts", "notifications", "operations"] {
                    try await view.see("\(stream).snapshot")
                    let entry = reply["hashes"].array.first { $0["stream"] == .string(stream) }
                    guard let entry, entry["hash"].string?.count == 16, entry["id"].string?.isEmpty == false else {
                        throw Failure(description: "\(stream) has no hash: \(reply)")
                    }
                }
            }
            try await anna.ask("CheckIn")
            for view in [views.0, views.1] {
                try await view.see("CheckedIn")
                view.leave()
            }
        },
        Scenario(name: "signals, and joining a group session late") { stage in
            let (anna, bob) = (try await stage.signUp("Anna"), try await stage.signUp("Bob"))
            let code = try await bob.call("ListContacts")["code"]
            try await anna.call("AddContact", ["code": code, "iAmResponder": true])
            let made = try await anna.ask(
                "CreateGroupSession",
                [
                    "activity": ["identifier": "org.example.game", "title": "A game", "type": "generic"], "seats": 2,
                    "isOpenToContacts": true,
                ])["result"]["group"]
            let group: JSON = ["group": made]
            let annaSees = try await anna.watch([made.string ?? ""])
            try await annaSees.see("group.snapshot")
            try await anna.ask("ClaimSeat", ["group": made, "seat": 0])
            try await anna.ask("StartGame", ["group": made, "lead": 0, "state": ["board": [1, 2]]])
            try await annaSees.see("GameStarted")
            try await bob.ask("JoinGroupSession", group)
            // Before Bob follows: an event that a stream passes after another follower has come in behind it has no hash.
            try await annaSees.see("ParticipantJoined")
            let bobSees = try await bob.watch([made.string ?? ""])
            let state = try await bobSees.see("group.snapshot")["state"]
            let read = try await stage.carrier.call("GetGroupSession", group, token: anna.token, key: nil)
            guard case .done(let annas) = read, annas["game"] != .null, annas["game"]["state"] == state["game"]["state"]
            else {
                throw Failure(description: "Bob sees \(state), Anna \(read)")
            }
            try await bob.call(
                "SendSignal", ["group": made, "topic": "org.example.cursor", "data": ["x": .double(1.25)]])
            try await annaSees.see("signal") { $0["topic"] == "org.example.cursor" }
            for view in [annaSees, bobSees] { view.leave() }
        },
    ]
}
