import QuartetAPI
import QuartetVocabulary
import Synchronization

/// Commands that are about now: shown at once, sent one after the other, and given up when there is no connection.
final class LiveCommands<State: Sendable, Value: Hashable & Sendable>: Sendable {
    private let service: Connection
    private let holder: ReplicaHolder<State, Value>
    private let lane = Lane()
    private let next = Mutex<Int64>(0)

    init(service: Connection, holder: ReplicaHolder<State, Value>) {
        self.service = service
        self.holder = holder
    }

    /// - Parameters:
    ///   - command: Made when its turn comes, of what the server has.
    ///   - show: Changes the copy as the command will.
    @discardableResult
    func send(
        show: @escaping Replica<State>.Change = { _ in },
        _ command: @escaping @Sendable (State?) throws(QuartetError) -> some MessageBody
    ) async throws(QuartetError) -> CommandReply {
        let requests = service.requests
        let id = next.withLock { next in
            next += 1
            return next
        }
        holder.change { $0.begin(id, show) }
        do throws(QuartetError) {
            let reply = try await service.time.call { () async throws(QuartetError) -> CommandReply in
                // Those that wait for their turn count the time from their own beginning.
                let limit = CallLimit(service.time)
                return try await limit.run { [lane, holder] () async throws(QuartetError) -> CommandReply in
                    try await lane.run { () async throws(QuartetError) -> CommandReply in
                        try await requests.command(try command(holder.base), within: limit)
                    }
                }
            }
            holder.change { $0.accept(id, reply) }
            return reply
        } catch {
            holder.change { $0.drop(id) }
            throw error
        }
    }
}
