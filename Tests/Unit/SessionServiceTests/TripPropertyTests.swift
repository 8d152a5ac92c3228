import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

/// Whatever is done with trips, others are told of exactly those that weren't ended in time.
@Suite("Session: trips, whatever happens")
struct TripPropertyTests {
    /// What a trip should come to, by what was asked and accepted alone.
    private struct Expected {
        var hear: Instant
        var grace: Interval
        var isOver = false
        var told: Instant?
    }

    @Test(
        """
        of a trip that was ended by the minute at which others hear nobody is told; of one that wasn't they are told once, by the \
        next time a timer runs (A7)
        """)
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(30, long: 300) {
                var household = Household(seed: random.next())
                let anna = try household.person()
                var trips: [TripID: Expected] = [:]
                for _ in 0..<150 {
                    let before = household.log.count
                    try Self.step(&household, anna, &trips, using: &random)
                    try Self.note(household, from: before, in: &trips)
                    // Timers run late at times, and never early.
                    if random.oneIn(3) {
                        let start = household.log.count
                        try Self.runTimers(&household, anna)
                        try Self.note(household, from: start, in: &trips)
                        for (id, trip) in trips where !trip.isOver && trip.hear <= household.time {
                            try #require(trip.told != nil, "\(id) was missed at \(trip.hear), and nobody is told")
                        }
                    }
                    let state = household.state(anna)
                    try #require(household.replicas[anna] == state)
                    for (id, trip) in trips where trip.told != nil && !trip.isOver {
                        try #require(state.trip?.id == id && state.trip?.alarm == state.alertAlarm, "it isn't shown")
                    }
                }
            }
        }
    }

    /// Fires what is due. A reminder that comes too late changes nothing.
    private static func runTimers(_ household: inout Household, _ anna: AccountID) throws {
        for _ in 0..<3 {
            for timer in household.rows.wantedTimers(of: anna) where timer.due <= household.time {
                do { try household.ask(nil, timer.command.body) } catch let error as Rejection {
                    // Another timer has changed what this one was set for.
                    try #require(error.code == .notDue)
                }
            }
        }
    }

    private static func step(
        _ household: inout Household, _ anna: AccountID, _ trips: inout [TripID: Expected],
        using random: inout SeededRandom
    ) throws {
        household.pass(.seconds(Int64.random(in: 0...2500, using: &random)))
        let eta = household.time + .minutes(Int64.random(in: 0...200, using: &random))
        let known = trips.keys.sorted().randomElement(using: &random)
        let trip = (random.oneIn(8) ? known : household.state(anna).trip?.id) ?? .new()
        let (time, current) = (household.time, trips[trip])
        switch Int.random(in: 0...9, using: &random) {
        case 0...3:
            let grace: Interval? = random.oneIn(2) ? .minutes(Int64.random(in: 0...60, using: &random)) : nil
            let start = StartTrip(name: "Lake", eta: eta, grace: grace)
            guard let events = try? household.ask(anna, start) else { return }
            let begun = try events.first(as: TripStarted.self).trip
            trips[begun.id] = Expected(hear: eta + (grace ?? .seconds(0)), grace: grace ?? .seconds(0))
        case 4...5:
            guard (try? household.ask(anna, ExtendTrip(trip: trip, eta: eta)))?.isEmpty == false else { return }
            let moved = try #require(current)
            try #require(time <= moved.hear && moved.told == nil && !moved.isOver, "moved, though others were to know")
            trips[trip]?.hear = eta + moved.grace
        case 6:
            let pressed = random.oneIn(2) ? time - .minutes(Int64.random(in: 0...60, using: &random)) : nil
            if (try? household.ask(anna, EndTrip(trip: trip, end: .arrived, pressed: pressed)))?.isEmpty == false {
                trips[trip]?.isOver = true
            }
        case 7:
            let pressed = random.oneIn(2) ? time - .minutes(Int64.random(in: 0...60, using: &random)) : nil
            let isLate = household.state(anna).trip?.isItsAlert == true
            let events = try household.ask(anna, RaiseAlert(pressed: pressed))
            try #require(!isLate || events.first?.body is AlertRaisedAgain, "a call for help is told to nobody")
        case 8:
            _ = try? household.ask(anna, ClearAlert())
            for (id, trip) in trips where trip.told != nil { trips[id]?.isOver = true }
        default: _ = try? household.ask(anna, CheckIn())
        }
    }

    /// Notes of which trips others were told, and that none was told of twice, early, or though it was over.
    private static func note(_ household: Household, from start: Int, in trips: inout [TripID: Expected]) throws {
        for (at, event) in household.log.dropFirst(start) {
            let missed =
                switch event {
                case .alertRaised(let event): event.trip
                case .alertRaisedAgain(let event): event.trip
                default: MissedTrip?.none
                }
            guard let missed else { continue }
            let trip = try #require(trips[missed.trip])
            try #require(trip.told == nil && !trip.isOver && at >= trip.hear, "told early, twice or of what was over")
            trips[missed.trip]?.told = at
        }
    }
}
