import Postgres
import QuartetContactsContract
package import QuartetContactsRules
import QuartetVocabulary
package import Storage

// contacts.alarm and contacts.ended_alarm, whose rows are protected by the lock on the account, and contacts.alarm_recipient

extension AlarmRow.Kind: PostgresEncodable, PostgresDecodable {}

extension Tables {
    package static let alarm = Table<AlarmKey, AlarmRow>(
        "contacts.alarm", as: "a",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("kind", \.kind), make: AlarmKey.init),
        blank: .blank,
        columns: [
            Column("alarm", \.alarm),
            Column("occurred_at", \.occurred),
            Column("deadline", \.deadline),
            Column("pinged_at", \.pinged),
            Column(json: "late_call", \.keptLateCall),
            Column("answered_alarm", \.kept.alarm),
            Column("unanswered_at", \.kept.unanswered),
            Column("first_safe_at", \.kept.firstSafe),
            Column("told_again_at", \.kept.toldAgain),
            Column("called_again_at", \.kept.calledAgain),
            Column("hold_version", \.kept.holdVersion),
            Column("closing_at", \.kept.closing),
            Column(json: "later_tiers", \.kept.tiers.later),
            Column("tiers_begun", \.kept.tiers.begun),
            Column("first_tier_at", \.kept.tiers.since),
            Column("tiers_held", \.kept.tiers.held.before),
            Column("tiers_held_since", \.kept.tiers.held.since),
            Column("tiers_held_until", \.kept.tiers.held.until),
            Column("held", \.kept.held.before),
            Column("held_since", \.kept.held.since),
            Column("held_until", \.kept.held.until),
        ])

    package static let endedAlarm = Table<AlarmKey, EndedAlarmRow>(
        "contacts.ended_alarm", as: "e",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("kind", \.kind), make: AlarmKey.init),
        blank: .blank, columns: [Column("alarm", \.alarm), Column("ended_at", \.at)])

    package static let alarmRecipient = Table<RecipientKey, RecipientRow>(
        "contacts.alarm_recipient", as: "r",
        key: TableKey(
            KeyColumn("account", \.account), KeyColumn("alarm", \.alarm), KeyColumn("responder", \.responder),
            make: RecipientKey.init),
        blank: .blank,
        columns: [
            Column("alerted_at", \.at),
            Column("is_responder", \.isResponder),
            Column("is_out_of_reach", \.isOutOfReach),
            Column("answer", \.answer),
            Column("answered_at", \.answered),
            Column("pressed_at", \.pressed),
            Column("on_it_until", \.until),
            Column("on_it_used", \.used),
            Column("said_safe_at", \.saidSafe),
            Column("answers", \.answers),
            Column("asked_at", \.asked),
            Column(json: "hidden_from", \.hidden),
        ])
}

extension Pipeline {
    /// - Parameters:
    ///   - accounts: Loads these accounts' alarms.
    ///   - responders: Loads the alarms that these accounts were alerted to.
    func alarms(of accounts: Set<AccountID>, heardBy responders: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty || !responders.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.alarm.selection)
              FROM contacts.alarm AS a
             WHERE a.account = ANY (\(accounts.sorted()) || ARRAY(
                       SELECT t.account FROM contacts.alarm_recipient AS t
                        WHERE t.responder = ANY (\(responders.sorted()))))
            """)
    }

    func endedAlarms(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.endedAlarm.selection)
              FROM contacts.ended_alarm AS e
             WHERE e.account = ANY (\(accounts.sorted()))
            """)
    }

    /// Locks and reads recipients of alarms, in the order of the primary key.
    /// - Parameters:
    ///   - accounts: Loads everyone alerted to these accounts' alarms.
    ///   - responders: Loads everyone alerted to the alarms that these accounts were alerted to.
    func lockRecipients(ofAlarmsOf accounts: Set<AccountID>, amongThem responders: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty || !responders.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.alarmRecipient.selection)
              FROM contacts.alarm_recipient AS r
             WHERE r.account = ANY (\(accounts.sorted()) || ARRAY(
                       SELECT t.account FROM contacts.alarm_recipient AS t
                        WHERE t.responder = ANY (\(responders.sorted()))))
             ORDER BY r.account, r.alarm, r.responder
               FOR NO KEY UPDATE
            """)
    }
}
