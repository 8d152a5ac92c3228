import Foundation
import Postgres
import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Drills: who got the newest one, and whether there is anybody whom a new one would reach.
struct DrillReads: Sendable {
    let pool: Pool

    /// - Throws: `notFound`.
    func report(to caller: Caller) async throws -> DrillReport {
        let (found, responders) = try await pool.withConnection { database in
            try database.transaction(isolation: .repeatableRead, readOnly: true) { database in
                let found = try database.query(
                    "SELECT s.state -> 'drill' FROM session.account_state AS s WHERE s.account = \(caller.account)"
                ).only?.decode(0, as: JSON?.self)
                let drill = try found.map { try JSONDecoder().decode(DrillState.self, from: Data($0.bytes)) }
                return (drill, try drill.map { try Self.receipts(of: $0, for: caller.account, in: database) } ?? [])
            }
        }
        // After a while the notifications are gone, and nobody is to read that none was there.
        guard let found, found.began + DrillRules.report > .now else {
            throw APIError(.notFound, "You haven’t run a drill for a week.")
        }
        return DrillReport(drill: found, responders: responders)
    }

    /// What each responder was told has an id that follows from the drill's, so nothing is searched for.
    private static func receipts(
        of drill: DrillState, for account: AccountID, in database: Database
    ) throws -> [DrillReceipt] {
        let responders = try database.query(
            """
            SELECT c.contact FROM contacts.contact AS c
             WHERE c.account = \(account) AND c.is_my_responder ORDER BY c.contact
            """
        ).map { try $0.decode(0, as: AccountID.self) }
        return try database.query(
            """
            SELECT w.account, r.notified_at, r.answered_at
              FROM unnest(\(responders), \(responders.map { NotificationID.ofDrill(drill.id, to: $0) }))
                   WITH ORDINALITY AS w(account, notification, place)
              LEFT JOIN notifications.drill_receipt AS r ON r.account = w.account AND r.notification = w.notification
             ORDER BY w.place
            """
        ).map { row in
            // What came after the drill's end says nothing about how soon an alarm would arrive.
            func inTime(_ column: Int) throws -> Instant? {
                try row.decode(column, as: Instant?.self).flatMap { $0 <= drill.ended ?? drill.ends ? $0 : nil }
            }
            return DrillReceipt(
                account: try row.decode(0, as: AccountID.self), notified: try inTime(1), answered: try inTime(2))
        }
    }

    /// Refuses a drill of which nobody would hear. Within a day of the last one session decides: it may be the same request, sent again.
    /// - Throws: `noResponder`.
    func requireResponder(of caller: Caller) async throws {
        let row = try await pool.withConnection { database in
            try database.query(
                """
                SELECT EXISTS (SELECT FROM contacts.contact AS c WHERE c.account = w.account AND c.is_my_responder),
                       (SELECT s.state ->> 'responderReach' FROM contacts.contacts_summary AS s
                         WHERE s.account = w.account),
                       (SELECT (s.state #>> '{drill,began}')::bigint > w.recently FROM session.account_state AS s
                         WHERE s.account = w.account)
                  FROM (VALUES (\(caller.account), \((Instant.now - DrillRules.pause).microseconds))) AS w(account, recently)
                """
            ).only.map {
                (
                    hasResponder: try $0.decode(0, as: Bool.self), reach: try $0.decode(1, as: String?.self),
                    isRecent: try $0.decode(2, as: Bool?.self) ?? false
                )
            }
        }
        guard let row, !row.isRecent else { return }
        guard row.hasResponder else { throw APIError(.noResponder) }
        guard row.reach != ResponderReach.unreachable.rawValue else {
            throw APIError(
                .noResponder,
                "None of your responders could be reached for a long time; talk to them, or add another one.")
        }
    }
}
