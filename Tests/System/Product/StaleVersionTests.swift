import EdgeClient
import RPCClient
import TestKit
import Testing

/// Two devices of a person change at once what both have read.
@Suite("End to end: changes of what has changed since", .timeLimit(.minutes(60)))
struct StaleVersionTests {
    @Test("of two devices that change a profile or a contact at once, one is taken, and the other hears of it (T26)")
    func texts() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let gus = try await carrier.signUp("gus", at: quartet)
                let hal = try await carrier.signUp("hal", at: quartet)
                try await hal.add(gus)
                let names: [JSON] = [["name": "Gustav"], ["name": "August"]]
                try await Self.race("UpdateProfile", names[0], names[1], of: gus, expecting: 1, over: carrier)
                let known = try await gus.card(of: hal)["contact"]["version"]
                let version = try #require(known.int)
                let contact: JSON = ["contact": .string(hal.account)]
                try await Self.race(
                    "UpdateContact", contact.adding("notes", "one"), contact.adding("notes", "other"), of: gus,
                    expecting: version, over: carrier)
            }
        }
    }

    @Test("of two devices that replace the same daily times at once, one is taken, and the other hears of it (T26, A6)")
    func daily() async throws {
        func times(_ minute: Int64) -> JSON {
            ["times": [.int(minute)], "weekdays": ["monday"], "zone": "Etc/UTC"]
        }
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let gus = try await carrier.signUp("gus", at: quartet)
                try await Self.race("SetDailyCheckIns", times(480), times(600), of: gus, expecting: 0, over: carrier)
                // An interval is read with the times, and counts as well.
                _ = try await carrier.act("SetCheckInInterval", ["interval": 36_000_000_000], token: gus.token)
                let version = try await carrier.act("GetAccount", token: gus.token)["checkIn"]["version"]
                #expect(version == 2)
                try await Self.race("SetDailyCheckIns", times(480), times(600), of: gus, expecting: 2, over: carrier)

                let stale = try await gus.ask("SetDailyCheckIns", times(720).adding("expectedVersion", 2))
                #expect(stale.status == 409 && stale.body["code"] == "staleVersion", "\(stale)")
                let current = stale.body["current"]["checkIn"]
                let offered: [JSON] = [[480], [600]]
                #expect(current["version"] == 3 && offered.contains(current["daily"]["times"]), "\(stale)")
                // An interval is refused like them.
                let interval: JSON = ["interval": 36_000_000_000, "expectedVersion": 2]
                let late = try await gus.ask("SetCheckInInterval", interval)
                #expect(late.status == 409 && late.body["current"]["checkIn"]["version"] == 3, "\(late)")
                // The newest wins over anything if it names no version.
                _ = try await carrier.act("SetDailyCheckIns", times(720), token: gus.token)
                #expect(try await gus.read("/v1/account")["checkIn"]["version"] == 4)
            }
        }
    }

    @Test("of two devices that replace the same tiers at once, one is taken, and the other hears of it (T26, A10)")
    func tiers() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let gus = try await carrier.signUp("gus", at: quartet)
                let hal = try await carrier.signUp("hal", at: quartet)
                try await hal.add(gus)
                func later(_ minutes: Int64) -> JSON {
                    ["tiers": [["after": .int(minutes * 60_000_000), "responders": [.string(hal.account)]]]]
                }
                try await Self.race("SetResponderTiers", later(5), later(10), of: gus, expecting: 0, over: carrier)
                let state = try await LiveView.open(gus).snapshot(of: "contacts")
                #expect(state["responderTiersVersion"] == 1)
                try await Self.race("SetResponderTiers", later(15), later(20), of: gus, expecting: 1, over: carrier)

                let stale = try await gus.ask("SetResponderTiers", later(30).adding("expectedVersion", 1))
                #expect(stale.status == 409 && stale.body["code"] == "staleVersion", "\(stale)")
                let current = stale.body["current"]
                #expect(current["responderTiersVersion"] == 2, "\(stale)")
                let offered = [later(15)["tiers"], later(20)["tiers"]]
                #expect(offered.contains(current["responderTiers"]), "\(stale)")
                // The newest wins over anything if it names no version.
                let set = try await carrier.act("SetResponderTiers", later(30), token: gus.token)["result"]
                #expect(set["version"] == 3)
            }
        }
    }

    /// Sends two changes of the same version at once.
    private static func race(
        _ command: String, _ one: JSON, _ other: JSON, of device: Device, expecting version: Int64,
        over carrier: any Carrier
    ) async throws {
        let token = device.token
        async let first = carrier.insist(command, one.adding("expectedVersion", .int(version)), token: token)
        async let second = carrier.insist(command, other.adding("expectedVersion", .int(version)), token: token)
        var (taken, stale) = (0, 0)
        for answer in try await [first, second] {
            switch answer {
            case .done: taken += 1
            case .refused(let code, let field, let details):
                #expect(code == "staleVersion" && field == "expectedVersion", "\(answer)")
                #expect(details["version"].int == version + 1, "\(answer)")
                stale += 1
            }
        }
        #expect(taken == 1 && stale == 1, "\(command) over \(carrier.name)")
    }
}
