import Postgres
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary

/// Where the pushes of canaries end: a row that says which alarm arrived, and when. People's pushes never come here, and canaries'
/// never get to the system that sends pushes to devices.
struct CanaryReceiver: PushSender {
    let pool: Pool
    func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        guard push.account.isCanary, push.notification.kind == .dependentCheckInMissed,
            let alarm = push.notification.details.alarm
        else { return .noted("nothing to be noted") }
        do {
            try await pool.withConnection { try $0.noteReceipt(of: alarm, by: push.account) }
            return .noted("noted")
        } catch {
            throw .unavailable("the receipt can't be noted")
        }
    }
}

extension Database {
    /// Alarms' ids begin with their time, so an older one that comes late changes nothing.
    fileprivate func noteReceipt(of alarm: AlarmID, by account: AccountID) throws {
        try execute(
            """
            INSERT INTO notifications.canary_receipt AS r (account, alarm)
            VALUES (\(account), \(alarm))
            ON CONFLICT ON CONSTRAINT last_receipt_of_a_canary DO UPDATE
               SET alarm = excluded.alarm, received_at = excluded.received_at
             WHERE r.alarm < excluded.alarm
            """)
    }
}
