import Foundation
import QuartetAPI
import QuartetVocabulary
import Testing

@testable import QuartetClient

@Suite
struct OutboxScheduleTests {
    private static func item(_ id: Int64, _ command: String, lane: String? = nil) -> OutboxItem {
        OutboxItem(
            id: id, stream: "contacts", command: command, acted: Instant(microseconds: 1), lifetime: .days(1),
            actedAtServer: nil, edit: Data(), order: lane ?? "\(command)/\(id)")
    }

    private static func next(
        _ schedule: inout OutboxSchedule, _ items: [OutboxItem], at now: Duration = .zero
    ) -> Int64? {
        schedule.next(of: items, now: now) { _ in true }?.id
    }

    @Test("nothing waits behind a command of a lower precedence, for any two (S22, R11)")
    func precedence() {
        for (low, lower) in Sending.Precedence.allCases.enumerated() {
            for higher in Sending.Precedence.allCases[..<low] {
                func item(_ id: Int64, _ precedence: Sending.Precedence) -> OutboxItem {
                    let names: [Sending.Precedence: String] = [
                        .urgent: "RaiseAlert", .normal: "BlockContact", .background: "ShowNotifications",
                    ]
                    return Self.item(id, names[precedence] ?? "")
                }
                var schedule = OutboxSchedule()
                var items = (1...1000).map { item(Int64($0), lower) }
                // All places of the lower one are taken by what never ends.
                while Self.next(&schedule, items) != nil {}
                items.append(item(2000, higher))
                #expect(items.last?.precedence == higher && Self.next(&schedule, items) == 2000)
                // The lower one rests.
                var random = SystemRandomNumberGenerator()
                schedule.end(items[1000])
                schedule.rest(
                    items[0], .willBeSentWhenOnline, pause: .seconds(600), isShared: true, now: .zero, using: &random)
                #expect(Self.next(&schedule, items) == 2000)
            }
        }
    }

    @Test("commands of one lane are sent one after the other, in their order (S22)")
    func lanes() {
        var schedule = OutboxSchedule()
        let items = [Self.item(1, "SendPing", lane: "a"), Self.item(2, "CancelPing", lane: "a")]
        #expect(Self.next(&schedule, items) == 1 && Self.next(&schedule, items) == nil)
        schedule.end(items[0])
        #expect(Self.next(&schedule, [items[1]]) == 2)
    }

    @Test("an urgent command rests for five seconds at most, whatever is asked, and for its own trouble alone (S22)")
    func urgentRests() {
        var random = SystemRandomNumberGenerator()
        var schedule = OutboxSchedule()
        let (alert, checkIn) = (Self.item(1, "RaiseAlert"), Self.item(2, "CheckIn"))
        for attempt in 1...20 {
            schedule.rest(
                alert, .willBeSentWhenOnline, pause: .seconds(3600), isShared: true, now: .zero, using: &random)
            let until = schedule.rest(of: alert, now: .zero)?.until ?? .zero
            #expect(until >= .milliseconds(2500) && until <= .seconds(5))
            #expect(schedule.rest(of: checkIn, now: .zero) == nil, "\(attempt)")
        }
        for attempt in 1...20 {
            schedule.rest(
                checkIn, .willBeSentWhenOnline, pause: nil, isShared: true, now: .zero, using: &random)
            let limit = min(Duration.milliseconds(500) * (1 << min(attempt - 1, 8)), .seconds(5))
            #expect(schedule.rest(of: checkIn, now: .zero).map { $0.until <= limit } ?? true)
        }
    }

    @Test("a call for help goes first, then check-ins, and always finds a place (S22, S27)")
    func urgentOrder() {
        let answers = (1...6).map { Self.item(Int64($0), "RespondToPing") }
        let (checkIn, alert) = (Self.item(7, "CheckIn"), Self.item(8, "RaiseAlert"))
        var schedule = OutboxSchedule()
        let first = (1...3).compactMap { _ in Self.next(&schedule, answers + [checkIn, alert]) }
        #expect(first == [8, 7, 1])
        // Answers that never end.
        schedule = OutboxSchedule()
        while Self.next(&schedule, answers) != nil {}
        #expect(Self.next(&schedule, answers + [checkIn]) == nil && Self.next(&schedule, answers + [alert]) == 8)
    }

    @Test("what a server refused in one second doesn't come back in one second, and a pause has an end (S22, T21)")
    func jitter() {
        var ends: Set<Duration> = []
        for _ in 0..<200 {
            var random = SystemRandomNumberGenerator()
            var schedule = OutboxSchedule()
            let item = Self.item(1, "BlockContact")
            schedule.rest(item, .unknown, pause: .seconds(60), isShared: true, now: .zero, using: &random)
            let until = schedule.rest(of: item, now: .zero)?.until ?? .zero
            ends.insert(.seconds(until.components.seconds))
            #expect(until >= .seconds(60) && until <= .seconds(75))
            schedule.rest(item, .unknown, pause: .seconds(86_400), isShared: true, now: .zero, using: &random)
            #expect(schedule.rest(of: item, now: .zero).map { $0.until <= .seconds(750) } == true)
        }
        #expect(ends.count > 5)
    }

    @Test("what rests is looked at again when its rest ends, and never by a time that has passed (R11)")
    func ends() {
        var random = SystemRandomNumberGenerator()
        var schedule = OutboxSchedule()
        let items = [Self.item(1, "RaiseAlert"), Self.item(2, "BlockContact")]
        schedule.rest(items[0], .unknown, pause: .seconds(5), isShared: false, now: .zero, using: &random)
        schedule.rest(items[1], .unknown, pause: .seconds(60), isShared: true, now: .zero, using: &random)
        let (alert, other) = (schedule.rest(of: items[0], now: .zero), schedule.rest(of: items[1], now: .zero))
        #expect(schedule.nextEnd(of: items, now: .zero) == alert?.until && alert != nil)
        #expect(schedule.nextEnd(of: items, now: .seconds(6)) == other?.until && other != nil)
        // One that was taken back leaves nothing to wait for.
        #expect(schedule.nextEnd(of: [items[0]], now: .seconds(6)) == nil)
        schedule.isBlocked = true
        #expect(schedule.nextEnd(of: items, now: .zero) == nil && Self.next(&schedule, items, at: .seconds(99)) == nil)
    }
}
