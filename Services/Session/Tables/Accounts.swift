import Postgres
import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

// session.account

extension Tables {
    package static let account = Table<AccountID, AccountRow>(
        "session.account", as: "a", key: TableKey("account"), blank: .blank,
        columns: [
            Column("handle", \.handle),
            Column("skeleton", writing: { $0.handle?.skeleton }),
            Column("name", \.name),
            Column("emergency_note", \.emergencyNote),
            Column("profile_version", \.profileVersion),
            Column("phone", \.phone.keptNumber),
            Column("phone_region", \.phone.keptRegion),
            Column("phone_id", \.phoneID),
            Column("phone_key", \.phoneKey),
            Column(json: "avatar", \.avatar),
            Column("is_single_device", \.isSingleDevice),
            Column("is_confirmation_required", \.isConfirmationRequired),
            Column("check_in_interval", \.checkIn.interval),
            Column("reminds_two_hours", \.checkIn.remindsTwoHours),
            Column("reminds_thirty_minutes", \.checkIn.remindsThirtyMinutes),
            Column("last_check_in_at", \.checkIn.last),
            Column("due_at", \.checkIn.due),
            Column("missed_alarm", \.checkIn.alarm),
            Column("reminded", \.checkIn.reminded),
            Column("missed_last_alarm_at", \.checkIn.lastAlarm),
            Column("missed_repetitions", \.checkIn.repetitions),
            Column("alarm_held_since", \.checkIn.hold.keptSince),
            Column("alarm_reconsidered_at", \.checkIn.hold.keptReconsideredAt),
            Column("check_in_grace", \.checkIn.grace),
            Column("graced_due_at", \.checkIn.gracedDeadline),
            Column("grace_ends_at", \.checkIn.graceEnds),
            Column("paused_until", \.checkIn.pause.until),
            Column("pause_counts_from", \.checkIn.pause.since),
            Column("pause_used", \.checkIn.pause.used),
            Column("pauses_counted_since", \.checkIn.pause.countedSince),
            Column("pauses", \.checkIn.pause.count),
            Column("pause_reminded", \.checkIn.pause.isReminded),
            Column(json: "daily", \.checkIn.keptDaily),
            Column("daily_counted_since", \.checkIn.dailyChanges.since),
            Column("daily_changes", \.checkIn.dailyChanges.changes),
            Column("check_in_version", \.checkIn.version),
            Column("alert_raised_at", \.alert.raised),
            Column("alert_alarm", \.alert.alarm),
            Column("alert_pressed_at", \.alert.pressed),
            Column("alert_pressed_again_at", \.alert.pressedAgain),
            Column("alert_pressed_alarm", \.alert.pressedAlarm),
            Column(json: "alert_late_call", \.alert.keptLateCall),
            Column("alert_last_alarm_at", \.alert.lastAlarm),
            Column("alert_repetitions", \.alert.repetitions),
            Column("alert_waits_until", \.alert.waitsUntil),
            Column("alert_counted_since", \.alert.countedSince),
            Column("alert_count", \.alert.count),
            Column("missed_hold_alarm", \.checkIn.repetitionHold.alarm),
            Column("missed_hold_version", \.checkIn.repetitionHold.version),
            Column("missed_hold_since", \.checkIn.repetitionHold.since),
            Column("missed_hold_until", \.checkIn.repetitionHold.until),
            Column("missed_hold_used", \.checkIn.repetitionHold.used),
            Column("missed_hold_safe_until", \.checkIn.repetitionHold.safeUntil),
            Column("missed_hold_closes_at", \.checkIn.repetitionHold.closes),
            Column("missed_hold_is_closing", \.checkIn.repetitionHold.isClosing),
            Column("alert_hold_alarm", \.alert.repetitionHold.alarm),
            Column("alert_hold_version", \.alert.repetitionHold.version),
            Column("alert_hold_since", \.alert.repetitionHold.since),
            Column("alert_hold_until", \.alert.repetitionHold.until),
            Column("alert_hold_used", \.alert.repetitionHold.used),
            Column("alert_hold_safe_until", \.alert.repetitionHold.safeUntil),
            Column("alert_hold_closes_at", \.alert.repetitionHold.closes),
            Column("alert_hold_is_closing", \.alert.repetitionHold.isClosing),
            Column(json: "trip", \.keptTrip),
            Column(json: "unanswered", \.keptUnanswered),
            Column("trips_counted_since", \.tripCount.since),
            Column("trip_starts", \.tripCount.starts),
            Column("trip_moves", \.tripCount.moves),
            Column(json: "drill", \.drill),
            Column("opened_at", \.opened),
            Column("closed_at", \.closed),
            Column("oldest_change_at", \.oldestChange),
        ])
}

extension Pipeline {
    /// Reads the accounts after a given one, in the order of their ids.
    func accounts(after account: AccountID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM session.account AS a
             WHERE a.account > \(account ?? AccountID(high: 0, low: 0))
             ORDER BY a.account
             LIMIT \(limit)
            """)
    }

    /// Locks and reads accounts by id, by what their handle looks like, or by phone, in the order of their ids.
    /// - Parameters:
    ///   - changing: Accounts claiming the phone their code was sent to. The phone's current owner is loaded, too.
    ///   - undoing: Accounts that may get a former phone back. Its current owner is loaded, too.
    func lockAccounts(
        _ accounts: Set<AccountID>, skeletons: Set<String>, phones: Set<PhoneID>, changing: Set<AccountID>,
        undoing: Set<AccountID>
    ) -> Pending? {
        guard !accounts.isEmpty || !skeletons.isEmpty || !phones.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM session.account AS a
             WHERE a.account = ANY (\(accounts.sorted())) OR a.skeleton = ANY (\(skeletons.sorted()))
                OR a.phone_id = ANY (\(phones.sorted()))
                OR a.phone = ANY (ARRAY(SELECT c.phone FROM session.phone_code AS c
                                         WHERE c.account = ANY (\(changing.sorted())) AND c.purpose = 'phoneChange'
                                         UNION ALL
                                        SELECT s.phone FROM session.security_change AS s
                                         WHERE s.account = ANY (\(undoing.sorted()))))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }
}
