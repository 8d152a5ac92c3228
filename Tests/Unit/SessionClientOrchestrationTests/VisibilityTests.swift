import QuartetAPI
import QuartetContactsContract
import QuartetContractSupport
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("What people may see of each other")
struct VisibilityTests {
    private static let anna = AccountID.new()
    private static let ben = AccountID.new()

    private static func contact(_ account: AccountID, iAmResponder: Bool) -> Contact {
        Contact(
            account: account, nickname: "", notes: "", isMyResponder: !iAmResponder, iAmResponder: iAmResponder,
            sendPings: true, receivePings: true, notifyOnCheckIn: false, notifyOnMissedCheckIn: true, added: .now,
            updated: .now, version: 1)
    }

    @Test("a contact sees name and picture; check-ins, alerts and the emergency note are for responders")
    func person() throws {
        let state = AccountState(
            account: Self.anna, handle: "anna", name: "Anna", emergencyNote: "allergic",
            checkIn: CheckInState(
                due: .now, missed: true, daily: DailyTimes(times: [540], weekdays: [.monday], zone: "Europe/Berlin"),
                opens: .now, version: 3), alertRaised: .now, alertAlarm: .new(),
            lateCall: LateCall(pressed: Instant.now - .hours(1), received: .now))
        let contact = Person(state, seenByResponder: false)
        #expect(contact.handle == "anna" && contact.name == "Anna")
        #expect(contact.emergencyNote == nil && contact.checkIn == nil && contact.veryLateFrom == nil)
        #expect(contact.alertRaised == nil && contact.alertAlarm == nil && contact.lateCall == nil)
        let responder = Person(state, seenByResponder: true)
        #expect(responder.emergencyNote == "allergic" && responder.checkIn?.missed == true)
        // A zone says where somebody is.
        #expect(responder.checkIn?.daily == nil && responder.checkIn?.opens == nil && responder.checkIn?.version == nil)
        #expect(responder.veryLateFrom != nil && responder.alertRaised != nil && responder.alertAlarm != nil)
        #expect(responder.lateCall != nil && responder.lateCall == state.lateCall)
        let closed = Person(
            AccountState(account: Self.anna, emergencyNote: "old", isClosed: true), seenByResponder: true)
        #expect(closed.isClosed && closed.emergencyNote == nil && closed.checkIn == nil)
        #expect(try Encoded(responder).decoded() == responder)
    }

    @Test(
        "responders see that pings raised an alert, and of when, while it is on, but not whose; nobody else does (A4)")
    func unanswered() {
        let alarm = AlarmID.new()
        let now = Instant.now
        let asked = [now, now - .minutes(1)].map { UnansweredPing(contact: .new(), sent: $0) }
        let pings = UnansweredPings(alarm: alarm, pings: asked, isCalled: true)
        func seen(_ alert: AlarmID?, isResponder: Bool = true) -> PersonPings? {
            let state = AccountState(account: Self.anna, alertAlarm: alert, unanswered: pings)
            return Person(state, seenByResponder: isResponder).unanswered
        }
        #expect(seen(alarm) == PersonPings(pinged: now - .minutes(1), isCalled: true))
        #expect(seen(nil) == nil && seen(.new()) == nil && seen(alarm, isResponder: false) == nil)
    }

    @Test("responders see a trip while its alert is on, and not before; nobody else does (A7)")
    func trip() {
        var trip = TripState(id: .new(), name: "Lake", note: "The blue car", eta: .now)
        let alarm = AlarmID.new()
        func seen(_ alert: AlarmID?, isResponder: Bool = true) -> PersonTrip? {
            let state = AccountState(account: Self.anna, alertAlarm: alert, trip: trip)
            return Person(state, seenByResponder: isResponder).trip
        }
        #expect(seen(alarm) == nil && seen(nil) == nil)
        trip.alarm = alarm
        #expect(seen(alarm) == PersonTrip(name: "Lake", note: "The blue car", eta: trip.eta))
        #expect(seen(nil) == nil && seen(.new()) == nil && seen(alarm, isResponder: false) == nil)
        trip.isCalled = true
        #expect(seen(alarm)?.isCalled == true && seen(alarm, isResponder: false) == nil)
    }

    @Test("the people seen follow the contacts stream; a relation that ended while the app was away is ended once")
    func people() {
        let state = ContactsState(account: .new(), contacts: [Self.contact(Self.anna, iAmResponder: true)])
        var people = VisiblePeople(state, at: Position(5))
        #expect(people.roles == [Self.anna: true])
        // Before the state's position: the state includes it.
        func removed(_ account: AccountID) -> ContactsEvent {
            .contactRemoved(
                ContactRemoved(account: state.account, contact: account, by: account, reason: .removed, at: .now))
        }
        #expect(people.apply(removed(Self.ben), at: Position(4)) == Self.ben)
        #expect(people.apply(removed(Self.anna), at: Position(5)) == nil, "she was added again")
        #expect(people.roles == [Self.anna: true])
        #expect(people.apply(removed(Self.anna), at: Position(6)) == nil)
        #expect(people.roles.isEmpty)
    }
}
