import Bus
import Logging
import Postgres
import QuartetSessionContract
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Says to session which participants of group sessions follow them by a connection of this process.
///
/// The process keeps a lease for that, under a new id whenever it begins, and says of each connection when it begins and when it
/// ends. If the lease is lost, all its connections count as lost, so they are said again under the next id; what takes less
/// than `session.limits.drop_notice` nobody hears of. A process without such connections has no lease and writes nothing.
final class Presence: Service, Sendable {
    /// How long one command may take before it is tried again.
    private static let patience: Duration = .seconds(4)

    private struct State: Sendable {
        /// The lease's; nil before it begins, and when it is lost.
        var edge: OwnerID?
        var attendances: [ObjectIdentifier: Attendance] = [:]
        var isStopping = false
    }

    private let session: CommandSender
    /// Between two renewals.
    private let renewal: Duration
    /// The database's clock: session refuses commands whose ids are a day off.
    private let now: @Sendable () -> Instant
    private let logger: Logger
    private let state = Mutex(State())
    private let (arrivals, arriver) = AsyncStream<Attendance>.makeStream()
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(session: CommandSender, renewal: Duration, now: @escaping @Sendable () -> Instant, logger: Logger) {
        (self.session, self.renewal, self.now, self.logger) = (session, renewal, now, logger)
    }

    /// A participant's connection to a session.
    final class Attendance: Sendable {
        fileprivate enum End: Sendable {
            /// The connection is lost.
            case lost
            /// The participant isn't in the session any more, which session knows.
            case over
        }

        let account: AccountID
        let group: GroupID
        fileprivate let ending = Mutex<End?>(nil)
        fileprivate let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

        fileprivate init(_ account: AccountID, _ group: GroupID) {
            (self.account, self.group) = (account, group)
            waker.yield()
        }

        /// The connection is lost, or the participant isn't in the session any more. Only the first end counts.
        func end(isOver: Bool = false) {
            ending.withLock { $0 = $0 ?? (isOver ? .over : .lost) }
            waker.yield()
        }

        fileprivate var ended: End? { ending.withLock(\.self) }
    }

    /// A participant follows a session from now on, until the attendance ends.
    func begin(_ account: AccountID, in group: GroupID) -> Attendance {
        let attendance = Attendance(account, group)
        let isFirst = state.withLock { state in
            state.attendances[ObjectIdentifier(attendance)] = attendance
            if state.isStopping { attendance.end() }
            return state.attendances.count == 1
        }
        arriver.yield(attendance)
        if isFirst { waker.yield() }
        return attendance
    }

    /// Runs until cancelled; told to stop, it first ends all attendances.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepLease() }
                for await attendance in arrivals { group.addTask { await self.keep(attendance) } }
            }
        } onGracefulShutdown: {
            let attendances = self.state.withLock { state in
                state.isStopping = true
                return Array(state.attendances.values)
            }
            for attendance in attendances { attendance.end() }
            self.arriver.finish()
            self.waker.finish()
        }
    }

    // MARK: The lease

    private func keepLease() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled, !self.state.withLock(\.isStopping) {
                    try? await Task.sleep(for: self.renewal)
                    self.waker.yield()
                }
            }
            for await _ in wake { await renew() }
            group.cancelAll()
        }
    }

    /// Renews the lease, or begins one, if somebody needs it.
    private func renew() async {
        let (edge, isNeeded) = state.withLock { state in
            if state.attendances.isEmpty { state.edge = nil }
            return (state.edge, !state.attendances.isEmpty)
        }
        guard isNeeded else { return }
        if let edge {
            guard await ask(RenewEdge(edge: edge, begins: false), .edge(edge)) == .refused(.edgeNotFound) else {
                return
            }
            lose(edge)
        }
        let next = OwnerID.new()
        guard await ask(RenewEdge(edge: next, begins: true), .edge(next)) == .done else { return }
        change(to: next)
    }

    private func lose(_ edge: OwnerID) {
        let isNews = state.withLock { state in
            guard state.edge == edge else { return false }
            state.edge = nil
            return true
        }
        guard isNews else { return }
        logger.warning("the lease of this process's connections to group sessions ended; it begins again")
        waker.yield()
    }

    private func change(to edge: OwnerID) {
        let attendances = state.withLock { state in
            state.edge = edge
            return Array(state.attendances.values)
        }
        for attendance in attendances { attendance.waker.yield() }
    }

    // MARK: Connections

    /// Says that a connection is there, again under each lease, and at its end that it is gone.
    private func keep(_ attendance: Attendance) async {
        /// Under which lease it was said, and as which connection.
        var said: (edge: OwnerID, connection: ConnectionID)?
        var isRefused = false
        var attempt = 0
        loop: for await _ in attendance.wake {
            while attendance.ended == nil, !isRefused, let edge = state.withLock(\.edge),
                said?.edge != edge || attempt > 0
            {
                if said?.edge != edge { said = (edge, .new()) }
                guard let connection = said?.connection else { break }
                let command = ConnectParticipant(group: attendance.group, connection: connection, edge: edge)
                switch await ask(command, .group(attendance.group), by: attendance.account) {
                case .done: attempt = 0
                case .refused(.edgeNotFound):
                    attempt = 0
                    lose(edge)
                // They aren't in it any more, or follow it by as many connections as may be counted.
                case .refused: isRefused = true
                case .failed, .unknown:
                    attempt += 1
                    try? await Task.sleep(for: Backoff.joining.delay(attempt: attempt))
                    if Task.isCancelled { break loop }
                }
            }
            if attendance.ended != nil { break }
        }
        if let said, !isRefused, attendance.ended == .lost { await sayLost(attendance, said) }
        state.withLock { $0.attendances[ObjectIdentifier(attendance)] = nil }
    }

    /// Says that a connection is gone, until it is known that session has heard of it: otherwise its participant would be here for
    /// as long as the lease lasts. With the lease, session takes it for lost anyway.
    private func sayLost(_ attendance: Attendance, _ said: (edge: OwnerID, connection: ConnectionID)) async {
        let command = DisconnectParticipant(group: attendance.group, connection: said.connection)
        // The same command while nothing is known of it, so that an outage leaves one and not many.
        var id = CommandID.new(at: now())
        var attempt = 0
        while true {
            switch await ask(
                command, .group(attendance.group), by: attendance.account, id: id, mayBeRepeated: attempt > 0)
            {
            case .done, .refused: return
            case .failed: id = .new(at: now())
            case .unknown: break
            }
            attempt += 1
            try? await Task.sleep(for: Backoff.joining.delay(attempt: attempt))
            let isKept = state.withLock { $0.edge == said.edge && !$0.isStopping }
            guard isKept, !Task.isCancelled else { return }
        }
    }

    // MARK: Asking

    private enum Answer: Equatable {
        case done
        case refused(Rejection.Code)
        /// It wasn't done, by session's own fault.
        case failed
        /// Nothing is known of it; it may still be done.
        case unknown
    }

    private func ask(
        _ command: some CommandBody, _ key: Key, by account: AccountID? = nil, id: CommandID? = nil,
        mayBeRepeated: Bool = false
    ) async -> Answer {
        do {
            let message = try Message(command, id: id ?? .new(at: now()), key: key, account: account)
            switch try await session.send(message, mayBeRepeated: mayBeRepeated, patience: Self.patience) {
            case .accepted: return .done
            case .rejected(let rejection): return .refused(rejection.code)
            case .failed: return .failed
            }
        } catch {
            return .unknown
        }
    }
}
