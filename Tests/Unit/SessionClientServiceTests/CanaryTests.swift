import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Session-client: what canaries need")
struct CanaryTests {
    private let now = Instant(microseconds: 1_700_000_000_000_000)
    private let alarm = AlarmID.new(at: Instant(microseconds: 1_699_999_990_000_000))

    private func canary(
        every interval: Interval? = .minutes(5), due: Interval? = nil, alarm: AlarmID? = nil, received: AlarmID? = nil,
        leg: String? = nil
    ) -> Canary {
        Canary(
            partition: Partition(3), count: 8, interval: interval, due: due.map { now + $0 }, alarm: alarm,
            received: received, receivedAt: received.map { _ in now - .seconds(3) }, leg: leg)
    }

    @Test("a canary is opened, left alone until its alarm arrived, and then checked in (A1)")
    func round() {
        #expect(CanaryStep(for: canary(every: nil, leg: "opened"), every: .minutes(5), at: now) == .open)
        var early = canary(every: nil, leg: "opened")
        early.isKnown = false
        #expect(CanaryStep(for: early, every: .minutes(5), at: now) == nil)
        #expect(CanaryStep(for: canary(due: .minutes(3)), every: .minutes(5), at: now) == nil)
        #expect(CanaryStep(for: canary(due: .seconds(-2), leg: "decided"), every: .minutes(5), at: now) == nil)
        let underWay = canary(due: .seconds(-5), alarm: alarm, received: .new(), leg: "relayed")
        #expect(CanaryStep(for: underWay, every: .minutes(5), at: now) == nil)
        let arrived = canary(due: .seconds(-10), alarm: alarm, received: alarm, leg: "ended")
        #expect(CanaryStep(for: arrived, every: .minutes(5), at: now) == .checkIn(alarm, attempt: 0))
        // The command has expired by then.
        #expect(CanaryStep(for: arrived, every: .minutes(5), at: now + .minutes(6)) == .checkIn(alarm, attempt: 1))
    }

    @Test("what never arrives is given up after twelve intervals, so that canaries go on (A1)")
    func givenUp() {
        func step(_ late: Interval) -> CanaryStep? {
            CanaryStep(
                for: canary(due: Interval(microseconds: -late.microseconds), alarm: alarm, leg: "pushed"),
                every: .minutes(5), at: now)
        }
        #expect(step(.minutes(59)) == nil)
        #expect(step(.minutes(61)) == .checkIn(alarm, attempt: 10))
    }

    @Test("a check-in's id is never in the future, nor older than a command may be, however late the alarm is (A1)")
    func checkInTimes() throws {
        // Noticed two hours late, and on for forty days.
        for (due, noticed) in [(Interval.minutes(-125), Interval.minutes(-5)), (.days(-40), .days(-40))] {
            let late = canary(due: due, alarm: .new(at: now + noticed), leg: "pushed")
            let step = try #require(CanaryStep(for: late, every: .minutes(5), at: now))
            let id = try #require(try step.commands(for: late, every: .minutes(5), at: now).first?.1.commandID)
            let time = try #require(id.time)
            #expect(time <= now && time > now - .minutes(7))
        }
    }

    @Test("another interval is set, and turned off they rest once their alarm is over (A1)")
    func settings() {
        #expect(CanaryStep(for: canary(due: .minutes(3)), every: .minutes(1), at: now) == .set(.minutes(1)))
        #expect(CanaryStep(for: canary(), every: .minutes(5), at: now) == .set(.minutes(5)))
        #expect(CanaryStep(for: canary(due: .minutes(3)), every: nil, at: now) == .set(nil))
        #expect(CanaryStep(for: canary(), every: nil, at: now) == nil)
        #expect(CanaryStep(for: canary(every: nil, leg: "opened"), every: nil, at: now) == nil)
        let underWay = canary(due: .seconds(-5), alarm: alarm, leg: "relayed")
        #expect(CanaryStep(for: underWay, every: nil, at: now) == .checkIn(alarm, attempt: 0))
    }

    @Test("all replicas send the same commands under the same ids, each partition's canary under its own (A1)")
    func ids() throws {
        func ids(_ step: CanaryStep, at time: Instant) throws -> [CommandID?] {
            try step.commands(for: canary(), every: .minutes(5), at: time).map { $0.1.commandID }
        }
        let minute = Instant(microseconds: now.microseconds - now.microseconds % 60_000_000)
        for step in [CanaryStep.open, .set(.minutes(5)), .set(nil)] {
            let first = try ids(step, at: minute)
            #expect(Set(first).count == first.count)
            #expect(try ids(step, at: minute + .seconds(59)) == first)
            // A refused or expired one is sent again under another id.
            #expect(try ids(step, at: minute + .seconds(60)) != first)
        }
        let checkIn = try ids(.checkIn(alarm, attempt: 0), at: now)
        #expect(try ids(.checkIn(alarm, attempt: 0), at: now + .hours(1)) == checkIn)
        #expect(try ids(.checkIn(alarm, attempt: 1), at: now) != checkIn)
        #expect(try ids(.checkIn(.new(), attempt: 0), at: now) != checkIn)
        // All of a canary's messages are in its partition.
        for (_, message) in try CanaryStep.open.commands(for: canary(), every: .minutes(5), at: now) {
            #expect(Partition(of: message.key, among: 8) == Partition(3))
        }
    }
}
