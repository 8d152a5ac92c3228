import API
import Vocabulary

/// Sends one client's commands, one after the other, and shows what they change before the server has decided.
struct Commands<State: Sendable, Value: Hashable & Sendable>: Sendable {
    /// Nil in previews, where every change is made at once.
    let service: Connection?
    let holder: ReplicaHolder<State, Value>
    private let lane = Lane()

    init(service: Connection?, holder: ReplicaHolder<State, Value>) {
        self.service = service
        self.holder = holder
    }

    /// The server's time as far as it is known, for what is shown until the server says it.
    var now: Instant { service?.clock.now ?? .now }

    /// - Parameters:
    ///   - touched: The ids of the elements that the edit changes; nil for any.
    ///   - edit: What the command will have changed.
    func send(
        _ command: some MessageBody, touched: [AnySendableHashable]? = nil,
        edit: @escaping Replica<State>.Change = { _ in }
    ) async throws(QuartetError) {
        guard let service else {
            holder.change { $0.apply(causedBy: nil, edit) }
            return
        }
        // Of the account that acts, even if another one has its turn before this command has.
        let requests = service.requests
        try await holder.edit(edit, touched: touched) { () async throws(QuartetError) in
            try await lane.run { () async throws(QuartetError) in try await requests.command(command) }
        }
    }

    /// Sends the fields that a person changed, based on a version. If others were changed meanwhile, both changes stay; if the same
    /// one was, the person's is refused with `staleVersion`.
    /// - Parameters:
    ///   - version: The version that is known; nil if there is nothing to change, which `missing` says.
    ///   - theirs: What the server has now, as it comes with the refusal.
    func send<Form: Fields, Command: MessageBody>(
        _ edit: Edit<Form>, touched: [AnySendableHashable]? = nil, show: @escaping Replica<State>.Change,
        version known: @Sendable (State) -> Int64?, orElse missing: APIError,
        command: @Sendable (Int64) -> Command,
        theirs read: @Sendable ([UInt8]) throws(QuartetError) -> (Form, version: Int64)
    ) async throws(QuartetError) {
        guard let service else {
            holder.change { $0.apply(causedBy: nil, show) }
            return
        }
        let requests = service.requests
        try await holder.edit(show, touched: touched) { () async throws(QuartetError) in
            try await lane.run { () async throws(QuartetError) in
                guard var version = holder.base.flatMap(known) else { throw .refused(missing) }
                var refusal = missing
                // Somebody else may be quicker more than once.
                for _ in 0..<5 {
                    do throws(QuartetError) {
                        return try await requests.command(command(version))
                    } catch .refused(let error) where error.code == .staleVersion {
                        refusal = error
                        guard let current = error.current else { break }
                        let theirs = try read(current)
                        guard edit.conflicts(with: theirs.0).isEmpty else { break }
                        version = theirs.version
                    }
                }
                throw .refused(refusal)
            }
        }
    }
}
