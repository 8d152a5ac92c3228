import Foundation
import QuartetAPI
import QuartetVocabulary

/// One client's edits: shown at once, kept on the device, and sent one after the other.
final class Commands<Edit: ClientEdit, Value: Hashable & Sendable>: EditQueue {
    let stream: String
    let holder: ReplicaHolder<Edit.State, Value>
    /// Nil in previews, where every change is made at once.
    private let service: Connection?

    /// For a preview.
    init(_ stream: StreamName, holder: ReplicaHolder<Edit.State, Value>) {
        (self.stream, self.holder, service) = ("\(stream)", holder, nil)
    }

    private init(_ stream: String, _ service: Connection, _ holder: ReplicaHolder<Edit.State, Value>) {
        (self.stream, self.service, self.holder) = (stream, service, holder)
    }

    /// The edits of a stream at a server: the same ones as long as a client of the connection has them.
    static func live(
        _ stream: StreamName, _ service: Connection, _ holder: ReplicaHolder<Edit.State, Value>
    ) -> Commands {
        service.outbox.queue(of: "\(stream)") { Commands("\(stream)", service, holder) }
    }

    /// The server's time as far as it is known, for what is shown until the server says it.
    var now: Instant { service.map { $0.clock.now ?? $0.time.wall() } ?? .now }

    var openEdits: Set<OutboxItem.ID> { holder.openEdits }

    /// - Throws: Why it was refused, or why it isn't decided yet (``QuartetError/isPending``).
    func send(_ edit: Edit) async throws(QuartetError) {
        let now = now
        guard let service else {
            holder.change { $0.apply(causedBy: nil) { edit.make(in: &$0, at: now) } }
            return
        }
        let encoded: Data
        do { encoded = try JSONEncoder().encode(edit) } catch { throw .notStored("\(error)") }
        let command = edit.command
        try await service.send(encoded, command, from: self) { item in
            holder.change(touched: edit.touched) { replica in
                replica.begin(
                    item.id, inOrder: command.orderKey, { edit.show(in: &$0, at: now) }, until: { edit.isPart(of: $0) })
            }
        }
    }

    func order(of item: OutboxItem) throws(QuartetError) -> String { try edit(item).command.orderKey }

    func restore(_ item: OutboxItem) throws(QuartetError) {
        let edit = try edit(item)
        let time = item.actedAtServer ?? item.acted
        holder.change(touched: edit.touched) { replica in
            replica.begin(
                item.id, inOrder: item.lane, { edit.show(in: &$0, at: time) }, until: { edit.isPart(of: $0) })
        }
    }

    func merged(_ item: OutboxItem, with earlier: OutboxItem) -> Data? {
        guard earlier.stream == stream, earlier.command == item.command, let old = try? edit(earlier),
            let merged = try? edit(item).merged(with: old, on: holder.state(before: earlier.id))
        else { return nil }
        return try? JSONEncoder().encode(merged)
    }

    func show(_ item: OutboxItem, insteadOf earlier: OutboxItem) {
        guard let edit = try? edit(item) else { return }
        let time = item.actedAtServer ?? item.acted
        holder.change(touched: edit.touched) { replica in
            replica.replace(item.id, { edit.show(in: &$0, at: time) }, until: { edit.isPart(of: $0) })
            replica.drop(earlier.id)
        }
    }

    func body(of item: OutboxItem, at acted: Instant) throws(QuartetError) -> [UInt8] {
        let command = try edit(item).command(for: holder.base, at: acted)
        return try Requests.encoded(command)
    }

    func body(of item: OutboxItem, basedOn current: [UInt8]) throws(QuartetError) -> [UInt8]? {
        guard let command = try edit(item).command(basedOn: current) else { return nil }
        return try Requests.encoded(command)
    }

    func decided(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) {
        let touched = (try? edit(item))?.touched
        holder.change(touched: touched) { replica in
            switch result {
            case .success(let reply): replica.accept(item.id, reply)
            case .failure: replica.drop(item.id)
            }
        }
    }

    private func edit(_ item: OutboxItem) throws(QuartetError) -> Edit {
        do { return try JSONDecoder().decode(Edit.self, from: item.edit) } catch { throw .unreadable("\(error)") }
    }
}
