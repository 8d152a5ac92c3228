import Bus
import Postgres
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Who is in which group session, as far as this process has to know. A bounded cache: what isn't known is looked up in what
/// session publishes, and forgotten when session's log says that someone came or left.
final class GroupMembers: Sendable {
    private struct State: Sendable {
        var groups: [GroupID: Set<AccountID>] = [:]
        /// How often something changed: a look-up that began before isn't kept.
        var changes: UInt64 = 0
    }

    private static let limit = 10_000
    private let state = Mutex(State())
    private let pool: Pool

    init(pool: Pool) {
        self.pool = pool
    }

    /// The participants of a session; none if there is no such session or it is over.
    func participants(of group: GroupID) async throws -> Set<AccountID> {
        let (known, changes) = state.withLock { ($0.groups[group], $0.changes) }
        if let known { return known }
        let participants = try await pool.withConnection { database in
            Set(
                try database.query(
                    """
                    SELECT p.account FROM session.group_participant AS p
                     WHERE p.group_id = \(group) AND p.status = 'joined'
                    """
                ).map { try $0.decode(0, as: AccountID.self) })
        }
        // Anyone can ask for sessions that don't exist: these aren't kept.
        guard !participants.isEmpty else { return [] }
        state.withLock { state in
            guard state.changes == changes else { return }
            if state.groups.count >= Self.limit { state.groups = [:] }
            state.groups[group] = participants
        }
        return participants
    }

    /// Whether a row of session's log may change who is in a session.
    static func isWanted(_ heading: RowHeading) -> Bool {
        heading.kind == .event
            && [ParticipantJoined.type, ParticipantLeft.type, GroupSessionEnded.type].contains(heading.type)
    }

    /// Takes in such a row.
    func observe(_ observation: Tail.Observation) {
        state.withLock { state in
            state.changes += 1
            switch observation {
            case .row(let row): if let group = row.message.key.group { state.groups[group] = nil }
            case .reconnected(let hasMissedRows): if hasMissedRows { state.groups = [:] }
            }
        }
    }
}
