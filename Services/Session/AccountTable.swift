import Foundation
import Postgres
import SessionContract
import Vocabulary
import WorkingSet

// The statements on session.account.

extension Pipeline {
    /// As ``Row/account()`` reads them.
    private static let columns = """
        a.account, a.handle, a.name, a.emergency_note, a.profile_version, a.is_single_device, \
        a.is_confirmation_required, (extract(epoch FROM a.check_in_interval) * 1000000)::bigint, \
        a.reminds_two_hours, a.reminds_thirty_minutes, a.last_check_in_at, a.due_at, a.missed_alarm, a.reminded, \
        a.missed_repetitions, a.alert_raised_at, a.alert_repetitions, a.opened_at, a.closed_at, \
        a.missed_told_at, a.alert_told_at, a.phone, a.phone_region, a.phone_id, a.avatar, a.alert_alarm, \
        a.alert_waits_until, a.alert_counted_since, a.alert_count, a.oldest_change_at, a.phone_key
        """

    /// Reads the accounts that come after one, in the order of their ids.
    func accounts(after account: AccountID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Self.columns)
              FROM session.account AS a
             WHERE a.account > \(account ?? AccountID(high: 0, low: 0))
             ORDER BY a.account
             LIMIT \(limit)
            """)
    }

    /// Locks and reads accounts by id, by what their handle looks like, and by their phone, in the order of their ids.
    /// - Parameters:
    ///   - changing: accounts that get the phone which their code was sent to: whose it is is read, too.
    ///   - undoing: accounts that may get a phone back which they had: whose it is now is read, too.
    func lockAccounts(
        _ accounts: Set<AccountID>, skeletons: Set<String>, phones: Set<PhoneID>, changing: Set<AccountID>,
        undoing: Set<AccountID>
    ) -> Pending? {
        guard !accounts.isEmpty || !skeletons.isEmpty || !phones.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Self.columns)
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

    func save(_ changes: WorkingSet<AccountID, AccountRow>.Changes) throws {
        // First what changes: an account may give its handle up to one that is new.
        if !changes.updated.isEmpty {
            let rows = changes.updated
            query(
                """
                UPDATE session.account AS a
                   SET handle = u.handle, skeleton = u.skeleton, name = u.name,
                       emergency_note = u.emergency_note, profile_version = u.profile_version,
                       is_single_device = u.is_single_device,
                       is_confirmation_required = u.is_confirmation_required,
                       check_in_interval = u.check_in_interval * interval '1 microsecond',
                       reminds_two_hours = u.reminds_two_hours,
                       reminds_thirty_minutes = u.reminds_thirty_minutes, last_check_in_at = u.last_check_in_at,
                       due_at = u.due_at, missed_alarm = u.missed_alarm, reminded = u.reminded,
                       missed_repetitions = u.missed_repetitions, alert_raised_at = u.alert_raised_at,
                       alert_repetitions = u.alert_repetitions, opened_at = u.opened_at, closed_at = u.closed_at,
                       missed_told_at = u.missed_told_at, alert_told_at = u.alert_told_at,
                       phone = u.phone, phone_region = u.phone_region, phone_id = u.phone_id, avatar = u.avatar,
                       alert_alarm = u.alert_alarm, alert_waits_until = u.alert_waits_until,
                       alert_counted_since = u.alert_counted_since, alert_count = u.alert_count,
                       oldest_change_at = u.oldest_change_at, phone_key = u.phone_key
                  FROM unnest(
                \(rows.map(\.key)), \(rows.map(\.row.handle?.description)), \(rows.map(\.row.handle?.skeleton)),
                \(rows.map(\.row.name)), \(rows.map(\.row.emergencyNote)), \(rows.map(\.row.profileVersion)),
                \(rows.map(\.row.isSingleDevice)), \(rows.map(\.row.isConfirmationRequired)),
                \(rows.map(\.row.checkIn.interval.microseconds)), \(rows.map(\.row.checkIn.remindsTwoHours)),
                \(rows.map(\.row.checkIn.remindsThirtyMinutes)), \(rows.map(\.row.checkIn.last)),
                \(rows.map(\.row.checkIn.due)), \(rows.map(\.row.checkIn.alarm)),
                \(rows.map(\.row.checkIn.reminded?.rawValue)), \(rows.map { Int32($0.row.checkIn.repetitions) }),
                \(rows.map(\.row.alert.raised)), \(rows.map { Int32($0.row.alert.repetitions) }),
                \(rows.map(\.row.opened)), \(rows.map(\.row.closed)),
                \(rows.map(\.row.checkIn.told)), \(rows.map(\.row.alert.told)), \(rows.map(\.row.phone?.number)),
                \(rows.map(\.row.phone?.region)), \(rows.map(\.row.phoneID)), \(try rows.map { try $0.row.avatar.stored }),
                \(rows.map(\.row.alert.alarm)), \(rows.map(\.row.alert.waitsUntil)),
                \(rows.map(\.row.alert.countedSince)), \(rows.map { Int32($0.row.alert.count) }),
                \(rows.map(\.row.oldestChange)), \(rows.map(\.row.phoneKey?.description)))
                       AS u(account, handle, skeleton, name, emergency_note, profile_version, is_single_device,
                            is_confirmation_required, check_in_interval, reminds_two_hours,
                            reminds_thirty_minutes, last_check_in_at, due_at, missed_alarm, reminded,
                            missed_repetitions, alert_raised_at, alert_repetitions, opened_at, closed_at,
                            missed_told_at, alert_told_at, phone, phone_region, phone_id, avatar, alert_alarm,
                            alert_waits_until, alert_counted_since, alert_count, oldest_change_at, phone_key)
                 WHERE a.account = u.account
                """)
        }
        if !changes.inserted.isEmpty {
            let rows = changes.inserted
            query(
                """
                INSERT INTO session.account
                       (account, handle, skeleton, name, emergency_note, profile_version, is_single_device,
                        is_confirmation_required, check_in_interval, reminds_two_hours, reminds_thirty_minutes,
                        last_check_in_at, due_at, missed_alarm, reminded, missed_repetitions, alert_raised_at,
                        alert_repetitions, opened_at, closed_at, missed_told_at, alert_told_at, phone, phone_region,
                        phone_id, avatar, alert_alarm, alert_waits_until, alert_counted_since,
                        alert_count, oldest_change_at, phone_key)
                SELECT u.account, u.handle, u.skeleton, u.name, u.emergency_note, u.profile_version,
                       u.is_single_device, u.is_confirmation_required,
                       u.check_in_interval * interval '1 microsecond', u.reminds_two_hours,
                       u.reminds_thirty_minutes, u.last_check_in_at, u.due_at, u.missed_alarm, u.reminded,
                       u.missed_repetitions, u.alert_raised_at, u.alert_repetitions, u.opened_at, u.closed_at,
                       u.missed_told_at, u.alert_told_at, u.phone, u.phone_region, u.phone_id, u.avatar, u.alert_alarm,
                       u.alert_waits_until, u.alert_counted_since, u.alert_count, u.oldest_change_at, u.phone_key
                  FROM unnest(
                \(rows.map(\.key)), \(rows.map(\.row.handle?.description)), \(rows.map(\.row.handle?.skeleton)),
                \(rows.map(\.row.name)), \(rows.map(\.row.emergencyNote)), \(rows.map(\.row.profileVersion)),
                \(rows.map(\.row.isSingleDevice)), \(rows.map(\.row.isConfirmationRequired)),
                \(rows.map(\.row.checkIn.interval.microseconds)), \(rows.map(\.row.checkIn.remindsTwoHours)),
                \(rows.map(\.row.checkIn.remindsThirtyMinutes)), \(rows.map(\.row.checkIn.last)),
                \(rows.map(\.row.checkIn.due)), \(rows.map(\.row.checkIn.alarm)),
                \(rows.map(\.row.checkIn.reminded?.rawValue)), \(rows.map { Int32($0.row.checkIn.repetitions) }),
                \(rows.map(\.row.alert.raised)), \(rows.map { Int32($0.row.alert.repetitions) }),
                \(rows.map(\.row.opened)), \(rows.map(\.row.closed)),
                \(rows.map(\.row.checkIn.told)), \(rows.map(\.row.alert.told)), \(rows.map(\.row.phone?.number)),
                \(rows.map(\.row.phone?.region)), \(rows.map(\.row.phoneID)), \(try rows.map { try $0.row.avatar.stored }),
                \(rows.map(\.row.alert.alarm)), \(rows.map(\.row.alert.waitsUntil)),
                \(rows.map(\.row.alert.countedSince)), \(rows.map { Int32($0.row.alert.count) }),
                \(rows.map(\.row.oldestChange)), \(rows.map(\.row.phoneKey?.description)))
                       AS u(account, handle, skeleton, name, emergency_note, profile_version, is_single_device,
                            is_confirmation_required, check_in_interval, reminds_two_hours,
                            reminds_thirty_minutes, last_check_in_at, due_at, missed_alarm, reminded,
                            missed_repetitions, alert_raised_at, alert_repetitions, opened_at, closed_at,
                            missed_told_at, alert_told_at, phone, phone_region, phone_id, avatar, alert_alarm,
                            alert_waits_until, alert_counted_since, alert_count, oldest_change_at, phone_key)
                """)
        }
    }
}

extension Row {
    func account() throws -> AccountRow {
        var row = AccountRow(opened: try decode(17, as: Instant.self), closed: try decode(18, as: Instant?.self))
        row.handle = try decode(1, as: String?.self).map(Handle.init(kept:))
        row.name = try decode(2, as: String?.self)
        row.emergencyNote = try decode(3, as: String.self)
        row.profileVersion = try decode(4, as: Int64.self)
        row.isSingleDevice = try decode(5, as: Bool.self)
        row.isConfirmationRequired = try decode(6, as: Bool.self)
        row.checkIn = CheckInRow(
            interval: Interval(microseconds: try decode(7, as: Int64.self)),
            remindsTwoHours: try decode(8, as: Bool.self), remindsThirtyMinutes: try decode(9, as: Bool.self),
            last: try decode(10, as: Instant?.self), due: try decode(11, as: Instant?.self),
            alarm: try decode(12, as: AlarmID?.self),
            reminded: try decode(13, as: String?.self).flatMap(ReminderLead.init(rawValue:)),
            told: try decode(19, as: Instant?.self), repetitions: Int(try decode(14, as: Int32.self)))
        row.alert = AlertRow(
            raised: try decode(15, as: Instant?.self), alarm: try decode(25, as: AlarmID?.self),
            told: try decode(20, as: Instant?.self),
            repetitions: Int(try decode(16, as: Int32.self)), waitsUntil: try decode(26, as: Instant?.self),
            countedSince: try decode(27, as: Instant?.self), count: Int(try decode(28, as: Int32.self)))
        row.oldestChange = try decode(29, as: Instant?.self)
        row.phone = try decode(21, as: String?.self).map { Phone(number: $0, region: try decode(22, as: String?.self)) }
        row.phoneID = try decode(23, as: PhoneID?.self)
        row.phoneKey = try decode(30, as: String?.self).map { try KeyVersion(stored: $0) }
        row.avatar = try decode(24, as: JSON?.self).map {
            try JSONDecoder().decode(Avatar.self, from: Data($0.bytes))
        }
        return row
    }
}

extension Avatar? {
    fileprivate var stored: JSON? {
        get throws {
            guard let self else { return nil }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return JSON(Array(try encoder.encode(self)))
        }
    }
}
