import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

// What is said of a trip: to the person alone, until its time has passed.

extension SessionPolicy {
    func commands(for event: TripEvent, because message: RecordedMessage) -> [PolicyCommand] {
        let account = event.body.account
        switch event {
        case .tripReminded(let event):
            // It waited for so long that the time has passed.
            guard message.recordedAt < event.eta else { return [] }
            let details = NotificationDetails(
                at: event.at, deadline: event.eta, trip: event.trip,
                text: "Your trip ends soon. Say that you have arrived, or give it another end.")
            let told = DeliverNotification(
                id: Self.reminder(of: event.trip, event.eta, at: event.at, account), kind: .checkInReminder,
                details: details)
            return [.tell(.notifications, told, for: account)]
        case .tripGraceBegan(let event):
            let details = NotificationDetails(
                at: event.at, deadline: event.eta, graceEnds: event.ends, trip: event.trip,
                text: "The time of your trip has passed. Say that you have arrived, or an alert is raised soon.")
            let told = DeliverNotification(
                id: Self.grace(of: event.trip, event.eta, account), kind: .checkInMissed, details: details)
            return clear(event.trip, event.eta, reminded: event.reminded, isGraced: false, account) + [
                .tell(.notifications, told, for: account)
            ]
        case .tripExtended(let event):
            return clear(event.trip, event.former, reminded: event.reminded, account)
        case .tripEnded(let event):
            return clear(event.trip, event.eta, reminded: event.reminded, account)
                + allRight(account, said: event.said, because: message)
        case .tripStarted: return []
        }
    }

    /// A trip's time has passed: responders are told, and the person that an alert is on.
    func announceTrip(_ event: AlertRaised, _ trip: MissedTrip, because message: RecordedMessage) -> [PolicyCommand] {
        let relay = RelayAlert(kind: .alertRaised, alarm: event.alarm, occurred: event.at, deadline: trip.eta)
        return [
            told(event.account, event.alarm, trip, at: event.at, because: message),
            .tell(.contacts, relay, for: event.account),
        ] + clear(trip.trip, trip.eta, reminded: trip.reminded, event.account)
    }

    /// A trip's time has passed while an alert is on.
    func say(_ trip: MissedTrip, of event: AlertRaisedAgain, because message: RecordedMessage) -> [PolicyCommand] {
        [told(event.account, event.alarm, trip, at: event.at, because: message)]
            + clear(trip.trip, trip.eta, reminded: trip.reminded, event.account)
    }

    private func told(
        _ account: AccountID, _ alarm: AlarmID, _ trip: MissedTrip, at time: Instant, because message: RecordedMessage
    ) -> PolicyCommand {
        let details = NotificationDetails(
            at: time, deadline: trip.eta, trip: trip.trip, alarm: alarm,
            text: "You haven’t said that you arrived: an alert is on. Say that you have, or ask for help.")
        return .notify(account, .alertRaised, details, because: message)
    }

    /// Named so that it is found when the trip is over or has another end. Somebody may go back to an end of which they were reminded, and
    /// the rules' time may stand still.
    private static func reminder(
        of trip: TripID, _ eta: Instant, at time: Instant, _ account: AccountID
    ) -> NotificationID {
        .derived(
            at: time, from: Array("notification/trip/reminder".utf8), account.bytes, trip.bytes,
            Array("\(eta.microseconds)/\(time.microseconds)".utf8))
    }

    /// Nobody can go back to an end whose grace has begun.
    private static func grace(of trip: TripID, _ eta: Instant, _ account: AccountID) -> NotificationID {
        .derived(
            at: eta, from: Array("notification/trip/grace".utf8), account.bytes, trip.bytes,
            Array("\(eta.microseconds)".utf8))
    }

    /// What was said of a trip with this end isn't so any more.
    /// - Parameters:
    ///   - reminded: When the person was reminded of it.
    ///   - isGraced: Whether its grace may have begun.
    private func clear(
        _ trip: TripID, _ eta: Instant, reminded: Instant?, isGraced: Bool = true, _ account: AccountID
    ) -> [PolicyCommand] {
        let ids =
            (reminded.map { [Self.reminder(of: trip, eta, at: $0, account)] } ?? [])
            + (isGraced ? [Self.grace(of: trip, eta, account)] : [])
        guard !ids.isEmpty else { return [] }
        return [.tell(.notifications, ClearNotifications(selection: NotificationSelection(ids: ids)), for: account)]
    }
}
