import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Looks for alarms that wait")
struct AlarmLookTests {
    private struct Failure: Error, CustomStringConvertible {
        var description: String { "a test" }
    }

    private let start = ContinuousClock.now

    private func alarm(_ place: String, _ seconds: Int, isAlarm: Bool = true) -> StuckAlarm {
        StuckAlarm(place: place, age: .seconds(seconds), isAlarm: isAlarm)
    }

    /// Does a look, which takes a while.
    /// - Returns: Whether it went over everything.
    @discardableResult
    private func look(
        _ look: inout AlarmLook, at seconds: Int, for time: Duration, _ alarms: [StuckAlarm]?
    ) -> Bool {
        let begun = look.begin(at: start + .seconds(seconds))
        let end = start + .seconds(seconds) + time
        if let alarms { look.end(begun, with: alarms, at: end) } else { look.fail(begun, Failure(), at: end) }
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

    @Test("looks that fail are reported after ten seconds, until one is made again (A1)")
    func failing() {
        var one = AlarmLook("contacts", at: start)
        look(&one, at: 0, for: .zero, [])
        look(&one, at: 2, for: .seconds(4), nil)
        #expect(one.complaint(at: start + .seconds(9)) == nil)
        look(&one, at: 9, for: .seconds(4), nil)
        #expect(one.complaint(at: start + .seconds(13)) == "can't look for alarms in contacts: a test")
        look(&one, at: 15, for: .zero, [])
        #expect(one.complaint(at: start + .seconds(15)) == nil)
    }

    @Test("looks over everything that fail don't keep others from being made, and are reported as well (A1)")
    func failingWhole() {
        var one = AlarmLook("contacts", at: start)
        look(&one, at: 0, for: .zero, [])
        for seconds in stride(from: 2, to: 200, by: 2) {
            let isWhole = one.begin(at: start + .seconds(seconds)).age > .days(1000)
            look(&one, at: seconds, for: .zero, isWhole ? nil : [])
            let complaint = one.complaint(at: start + .seconds(seconds))
            #expect((complaint != nil) == (seconds > 180), "\(seconds)")
            if let complaint {
                #expect(complaint == "can't look for alarms in contacts that have waited for minutes: a test")
            }
        }
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
