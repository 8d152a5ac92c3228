import QuartetVocabulary
import Testing

@testable import Postgres
@testable import SessionClientService

@Suite("Looks for alarms that wait")
struct AlarmLookTests {
    private struct Failure: Error, CustomStringConvertible {
        var description: String { "a test" }
    }

    private let start = ContinuousClock.now
    private let timeOut = PostgresError.server(
        ServerError(
            sqlState: "57014", severity: "ERROR", message: "too slow", detail: nil, hint: nil, schema: nil, table: nil,
            column: nil, constraint: nil, context: nil))

    private func alarm(_ place: String, _ seconds: Int, isAlarm: Bool = true) -> StuckAlarm {
        StuckAlarm(place: place, age: .seconds(seconds), isAlarm: isAlarm)
    }

    /// Does a look, which takes a while.
    /// - Returns: Whether it went over everything.
    @discardableResult
    private func look(
        _ look: inout AlarmLook, at seconds: Int, for time: Duration, _ alarms: [StuckAlarm]?,
        _ error: any Error = Failure()
    ) -> Bool {
        let begun = look.begin(at: start + .seconds(seconds))
        let end = start + .seconds(seconds) + time
        if let alarms { look.end(begun, with: alarms, at: end) } else { look.fail(begun, error, at: end) }
        return begun.age > .days(1000)
    }

    @Test("a look over everything that took long isn't repeated at once, however long it took within a minute (A1)")
    func narrow() {
        for (time, pause) in [
            (Duration.milliseconds(10), 1), (.milliseconds(200), 11), (.seconds(2), 62), (.seconds(9), 69),
        ] {
            var one = AlarmLook("session", at: start)
            let isWhole = [
                look(&one, at: 0, for: time, []), look(&one, at: pause - 1, for: .zero, []),
                look(&one, at: pause, for: .zero, []),
            ]
            #expect(isWhole == [true, false, true], "\(time)")
        }
        var logs = AlarmLook("the logs", isWhole: true, at: start)
        let isWhole = [0, 10, 20].map { look(&logs, at: $0, for: .seconds(5), []) }
        #expect(isWhole == [true, true, true])
    }

    @Test("what is too old for a narrow look is remembered until the next over everything, and nothing else (A1)")
    func remembered() {
        var one = AlarmLook("session", at: start)
        look(
            &one, at: 0, for: .seconds(2),
            [alarm("session.timer", 300), alarm("session.due", 300), alarm("session.parked", 60)])
        #expect(one.alarms.map(\.age) == [.seconds(300), .seconds(300), .seconds(60)])
        // Whatever a narrow look would find and doesn't is over.
        look(&one, at: 4, for: .zero, [])
        #expect(one.alarms.map(\.place) == ["session.timer"] && one.alarms.map(\.age) == [.seconds(302)])
        look(&one, at: 6, for: .zero, [alarm("session.parked", 10)])
        #expect(one.alarms.map(\.place) == ["session.timer", "session.parked"])
        look(&one, at: 70, for: .seconds(2), [])
        #expect(one.alarms.isEmpty)
    }

    @Test("what was known and is young enough for a narrow look is over when that doesn't find it (A1)")
    func delivered() {
        var one = AlarmLook("session", at: start)
        look(&one, at: 0, for: .seconds(2), [alarm("session.timer", 170)])
        for seconds in [4, 30, 60] {
            look(&one, at: seconds, for: .zero, [])
            #expect(one.alarms.isEmpty, "\(seconds)")
        }
        // Of one that may have become too old while the look that found it was still under way, nobody knows.
        look(&one, at: 64, for: .seconds(10), [alarm("session.timer", 175)])
        look(&one, at: 76, for: .zero, [])
        #expect(one.alarms.map(\.age) == [.seconds(177)])
    }

    @Test("a timer too old for narrow looks stays known for minutes, and then it is said that nobody can look (A1)")
    func tooOld() {
        var one = AlarmLook("session", at: start)
        look(&one, at: 0, for: .seconds(2), [])
        for seconds in stride(from: 4, through: 400, by: 2) {
            let isWhole = one.begin(at: start + .seconds(seconds)).age > .days(1000)
            let seen = seconds <= 183 ? [alarm("session.timer", seconds - 3)] : []
            look(&one, at: seconds, for: .zero, isWhole ? nil : seen, timeOut)
            // It is last seen at 180 s, by a narrow look.
            #expect(one.alarms.map(\.place) == (seconds > 340 ? [] : ["session.timer"]), "\(seconds)")
            let complaint = one.complaint(at: start + .seconds(seconds))
            #expect((complaint != nil) == (seconds > 162), "\(seconds)")
        }
        look(&one, at: 430, for: .zero, [alarm("session.timer", 427)])
        #expect(one.alarms.map(\.age) == [.seconds(427)] && one.complaint(at: start + .seconds(430)) == nil)
    }

    @Test("looks that fail are reported after fifteen seconds, until one is made again (A1)")
    func failing() {
        for (isWhole, error) in [(false, Failure()), (true, Failure()), (true, timeOut)] as [(Bool, any Error)] {
            var one = AlarmLook("contacts", isWhole: isWhole, at: start)
            look(&one, at: 0, for: .zero, [])
            look(&one, at: 2, for: .seconds(12), nil, error)
            #expect(one.complaint(at: start + .seconds(14)) == nil)
            look(&one, at: 16, for: .zero, nil, error)
            #expect(one.complaint(at: start + .seconds(16)) == "can't look for alarms in contacts: \(error)")
            look(&one, at: 18, for: .zero, [])
            #expect(one.complaint(at: start + .seconds(18)) == nil)
        }
    }

    @Test("only after one that took too long is a look narrow; whatever else fails, the next goes over everything (A1)")
    func again() {
        for tooSlow in [timeOut, AlarmWatch.NoAnswer()] as [any Error] {
            var one = AlarmLook("contacts", at: start)
            let isWhole = [
                look(&one, at: 0, for: .zero, nil), look(&one, at: 2, for: .seconds(10), nil, tooSlow),
                look(&one, at: 14, for: .zero, []), look(&one, at: 16, for: .zero, nil),
                look(&one, at: 18, for: .zero, []),
            ]
            #expect(isWhole == [true, true, false, false, true], "\(tooSlow)")
        }
    }

    @Test("one look over everything that takes too long isn't reported (A1)")
    func oneTooSlow() {
        for tooSlow in [timeOut, AlarmWatch.NoAnswer()] as [any Error] {
            var one = AlarmLook("contacts", at: start)
            look(&one, at: 0, for: .seconds(2), [])
            // The other services are slow, too, so it is the last of several.
            #expect(look(&one, at: 70, for: .seconds(12), nil, tooSlow))
            #expect(one.complaint(at: start + .seconds(82)) == nil, "\(tooSlow)")
            look(&one, at: 84, for: .zero, [])
            look(&one, at: 140, for: .zero, [])
            #expect(one.complaint(at: start + .seconds(154)) == nil, "\(tooSlow)")
            #expect(look(&one, at: 142, for: .seconds(12), []))
        }
    }

    @Test("looks over everything that take too long don't keep others from being made, and are reported as well (A1)")
    func failingWhole() {
        let said = "can't look for alarms in contacts that have waited for minutes: \(timeOut)"
        var one = AlarmLook("contacts", at: start)
        look(&one, at: 0, for: .zero, [])
        for seconds in stride(from: 2, to: 200, by: 2) {
            let isWhole = one.begin(at: start + .seconds(seconds)).age > .days(1000)
            look(&one, at: seconds, for: .zero, isWhole ? nil : [], timeOut)
            let complaint = one.complaint(at: start + .seconds(seconds))
            #expect(complaint == (seconds > 160 ? said : nil), "\(seconds)")
        }
        // Where none was made yet, nothing is known of what has waited for long.
        one = AlarmLook("contacts", at: start)
        look(&one, at: 0, for: .seconds(12), nil, timeOut)
        look(&one, at: 14, for: .zero, [])
        #expect(one.complaint(at: start + .seconds(14)) == nil)
        look(&one, at: 16, for: .zero, [])
        #expect(one.complaint(at: start + .seconds(16)) == said)
    }

    @Test("each place that keeps an alarm waiting is named, so that none hides another (A1)")
    func complaints() {
        let stuck = [
            alarm("session.parked", 86_400), alarm("session_client.contacts_commands", 600), alarm("session.timer", 4),
            alarm("contacts.due", 7, isAlarm: false), alarm("contacts.due", 6),
            alarm("session.due", 800, isAlarm: false),
        ]
        let said = StuckAlarm.complaints(of: stuck)
        #expect(said.count == 4)
        for (complaint, place) in zip(
            said, ["session.parked", "session_client.contacts_commands", "contacts.due", "session.due"])
        {
            #expect(complaint.contains(" in \(place)"), "\(said)")
        }
        #expect(said.prefix(3).allSatisfy { $0.hasPrefix("an alarm has waited for ") })
        #expect(said.last?.hasPrefix("more than 500 messages") == true)
    }
}
