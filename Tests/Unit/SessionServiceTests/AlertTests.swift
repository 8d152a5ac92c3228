import ContractSupport
import SessionContract
import SessionRules
import StoreKit
import TestKit
import Testing
import Vocabulary

@Suite("Session: alerts that are raised again and again")
struct AlertTests {
    @Test(
        """
        responders hear of the first three alerts in ten minutes at once, of later ones after a minute if still on, \
        and of no end without its beginning (S34)
        """)
    func flood() throws {
        var household = Household()
        let anna = try household.person()
        for round in 0..<3 {
            #expect(try household.raise(anna).waitsUntil == nil, "\(round)")
            #expect(try household.clear(anna).wasAnnounced)
            household.pass(.seconds(1))
        }
        // The fourth changes the state at once, and ends unheard.
        let fourth = try household.raise(anna)
        #expect(fourth.waitsUntil == household.time + .seconds(60))
        #expect(household.state(anna).alertRaised == household.time)
        household.pass(.seconds(1))
        #expect(try !household.clear(anna).wasAnnounced)
        #expect(household.state(anna).alertRaised == nil)

        // One that stays on is announced when it is due, once, and then repeated like any other.
        let last = try household.raise(anna)
        let timer = try #require(household.rows.wantedTimers(of: anna).first)
        #expect(timer.due == last.waitsUntil)
        #expect(try household.rejection(nil, timer.command.body) == .notDue)
        try household.run(.minutes(5), of: anna)
        let announced = household.log.filter { if case .alertAnnounced = $0.event { true } else { false } }
        #expect(announced.map(\.at) == [try #require(last.waitsUntil)])
        #expect(try household.ask(nil, timer.command.body).isEmpty)
        try household.run(.hours(1), of: anna)
        #expect(household.log.contains { if case .alarmRepeated = $0.event { true } else { false } })
        #expect(try household.clear(anna).wasAnnounced)

        // Ten minutes after the first, the next three are heard of at once again.
        #expect(try household.raise(anna).waitsUntil == nil)
    }

    @Test("however often an alert goes on and off, announcements are few and end with the newest state (S34)")
    func newestState() async throws {
        try await withRandom { random in
            for _ in 0..<50 {
                var household = Household(seed: random.next())
                let anna = try household.person()
                for _ in 0..<60 {
                    let command: any CommandBody =
                        random.oneIn(2) ? RaiseAlert() : ClearAlert()
                    try household.ask(anna, command)
                    try household.run(.seconds(Int64.random(in: 0...40, using: &random)), of: anna)
                }
                try household.run(.seconds(60), of: anna)
                var heard: AlarmID?
                var beginnings: [Instant] = []
                for (at, event) in household.log {
                    switch event {
                    case .alertRaised(let event) where event.waitsUntil == nil: heard = event.alarm
                    case .alertAnnounced(let event): heard = event.alarm
                    case .alertCleared(let event) where event.wasAnnounced:
                        try #require(heard == event.alarm)
                        heard = nil
                        continue
                    default: continue
                    }
                    beginnings.append(at)
                }
                try #require(heard == household.rows[anna]?.alert.alarm)
                for begun in beginnings {
                    let soon = beginnings.filter { (begun...(begun + .minutes(10))).contains($0) }
                    // Two windows' worth at once, and one a minute.
                    try #require(soon.count <= 6 + 10)
                }
            }
        }
    }

    @Test("the least interval, the pauses and the repetitions can be set")
    func limits() throws {
        var household = Household()
        household.rows.limits.leastCheckInInterval = .seconds(10)
        household.rows.limits.checkInCooldown = .seconds(1)
        household.rows.limits.repetitions = 1
        household.rows.limits.repetitionInterval = .seconds(5)
        let anna = try household.person()
        #expect(try household.rejection(anna, SetCheckInInterval(interval: .seconds(9))) == .invalidField)
        try household.ask(anna, SetCheckInInterval(interval: .seconds(10)))
        try household.ask(anna, CheckIn())
        #expect(try household.rejection(anna, CheckIn()) == .tooSoon)
        household.pass(.seconds(1))
        try household.ask(anna, CheckIn())
        try household.run(.minutes(1), of: anna)
        let repeated = household.log.count { if case .alarmRepeated = $0.event { true } else { false } }
        #expect(household.state(anna).checkIn.missed && repeated == 1)
    }
}

extension Household {
    fileprivate mutating func raise(_ account: AccountID) throws -> AlertRaised {
        let events = try ask(account, RaiseAlert())
        let event = try events.first(as: AlertRaised.self)
        return event
    }

    fileprivate mutating func clear(_ account: AccountID) throws -> AlertCleared {
        let events = try ask(account, ClearAlert())
        let event = try events.first(as: AlertCleared.self)
        return event
    }
}
