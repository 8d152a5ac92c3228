import ContactsContract
import NotificationsContract
import SessionContract
import Testing
import Vocabulary

@testable import SessionClientOrchestration

@Suite("Session's policy")
struct SessionPolicyTests {
    private let account = AccountID.new()
    private let policy = SessionPolicy { _, _ in .new() }

    /// The accounts that contacts hears of as reached.
    private func reached(by event: SessionEvent) throws -> [AccountID?] {
        let body = event.body
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: type(of: body).type, key: .account(account), account: account,
                body: try body.encoded()),
            recordedAt: .now)
        return policy.commands(for: event, in: message).filter { $0.body is RecordReached }.map(\.account)
    }

    /// What is asked of others because of an event.
    private func commands(for event: SessionEvent, recorded: Instant = .now) throws -> [any CommandBody] {
        let body = event.body
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: type(of: body).type, key: .account(account), account: account,
                body: try body.encoded()),
            recordedAt: recorded)
        return policy.commands(for: event, in: message).map(\.body)
    }

    @Test("of a trip only its person is told, until it is missed; then responders, by ids alone (A7)")
    func trips() throws {
        let eta = Instant.now + .hours(1)
        let trip = TripState(id: .new(), name: "Lake", note: "The blue car", eta: eta, grace: .minutes(5))
        let reminded = eta - .minutes(15)
        let began = TripGraceBegan(account: account, trip: trip.id, eta: eta, ends: eta + .minutes(5), at: eta)
        let quiet: [TripEvent] = [
            .tripStarted(.init(account: account, trip: trip, at: .now)),
            .tripReminded(.init(account: account, trip: trip.id, eta: eta, at: reminded)), .tripGraceBegan(began),
            .tripExtended(
                .init(account: account, trip: trip.id, eta: eta, former: eta, reminded: reminded, at: eta)),
            .tripEnded(
                .init(account: account, trip: trip.id, end: .arrived, eta: eta, reminded: reminded, at: eta)),
        ]
        let told = try quiet.map { try commands(for: .trip($0)) }
        #expect(told.map(\.count) == [0, 1, 1, 1, 1] && !told.joined().contains { $0 is RelayAlert })
        #expect(try commands(for: .trip(quiet[1]), recorded: eta).isEmpty, "it comes too late to be true")
        let said = [told[1], told[2]].compactMap { $0.first as? DeliverNotification }
        #expect(said.map(\.kind) == [.checkInReminder, .checkInMissed] && Set(said.map(\.id)).count == 2)
        for cleared in [told[3], told[4]] {
            #expect((cleared.first as? ClearNotifications)?.selection.ids == said.map(\.id))
        }

        let missed = MissedTrip(trip: trip.id, eta: eta)
        let alarm = AlarmID.new()
        let raised = try commands(for: .alertRaised(.init(account: account, alarm: alarm, trip: missed, at: eta)))
        let relay = raised.compactMap { $0 as? RelayAlert }
        #expect(relay.map(\.deadline) == [eta] && raised.count == 3)
        for body in raised { #expect(!"\(body)".contains("Lake") && !"\(body)".contains("blue")) }
        let byHand = AlertRaisedAgain(account: account, alarm: alarm, pressed: eta, at: eta)
        let again = try commands(for: .alertRaisedAgain(byHand))
        #expect(again.count == 1 && again.first is ForgetAnswers, "contacts tells that it is no late arrival")
        let missedAgain = AlertRaisedAgain(account: account, alarm: alarm, pressed: eta, trip: missed, at: eta)
        #expect(try commands(for: .alertRaisedAgain(missedAgain)).count == 3)
    }

    private func signedIn(isFirst: Bool, isFirstOfDay: Bool?) -> SessionEvent {
        let device = Device(id: .new(), name: "phone", signedIn: .now, lastSeen: .now)
        return .deviceSignedIn(
            .init(account: account, device: device, isFirst: isFirst, isFirstOfDay: isFirstOfDay, at: .now))
    }

    @Test("contacts hears once a day of a device that was there, but never through an older session (A16)")
    func reached() throws {
        #expect(try reached(by: signedIn(isFirst: false, isFirstOfDay: true)) == [account])
        #expect(try reached(by: signedIn(isFirst: false, isFirstOfDay: nil)) == [])
        // Contacts opens a new account as reached.
        #expect(try reached(by: signedIn(isFirst: true, isFirstOfDay: true)) == [])
        for (isFirst, expected) in [(true, [account]), (nil, [])] as [(Bool?, [AccountID?])] {
            let refreshed = DeviceRefreshed(account: account, device: .new(), isFirstOfDay: isFirst, at: .now)
            #expect(try reached(by: .deviceRefreshed(refreshed)) == expected)
        }
    }
}
