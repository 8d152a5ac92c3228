import Foundation
import QuartetAPI
import QuartetVocabulary

/// One client's edits: shown at once, kept on the device, and sent one after the other.
final class Commands<Edit: ClientEdit, Value: Hashable & Sendable>: EditQueue {
    let stream: String
    let holder: ReplicaHolder<Edit.State, Value>
    /// Nil in previews, where every change is made at once.
    private let service: Connection?
    private let own: OwnVersions

    /// For a preview.
    init(_ stream: StreamName, holder: ReplicaHolder<Edit.State, Value>) {
        (self.stream, self.holder, service, own) = ("\(stream)", holder, nil, OwnVersions())
    }

    private init(_ stream: String, _ service: Connection, _ holder: ReplicaHolder<Edit.State, Value>) {
        (self.stream, self.service, self.holder, own) = (stream, service, holder, service.outbox.own)
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

    /// - Returns: What the server answered; nil in previews.
    /// - Throws: Why it was refused, or why it isn't decided yet (``QuartetError/isPending``).
    @discardableResult
    func send(_ edit: Edit) async throws(QuartetError) -> CommandReply? {
        let now = now
        guard let service else {
            holder.change { $0.apply(causedBy: nil) { edit.make(in: &$0, at: now) } }
            return nil
        }
        let encoded: Data
        do { encoded = try JSONEncoder().encode(edit) } catch { throw .notStored("\(error)") }
        let command = edit.command
        return try await service.send(encoded, command, from: self) { item in
            holder.change(touched: edit.touched) { replica in
                replica.begin(
                    item.id, inOrder: command.orderKey, showing(edit, of: item.account, at: now),
                    until: { edit.isPart(of: $0) })
            }
        }
    }

    func order(of item: OutboxItem) throws(QuartetError) -> String { try edit(item).command.orderKey }

    func version(madeBy reply: CommandReply) -> Int64? { Edit.version(madeBy: reply) }

    func followingOwn(_ edit: Data, of account: AccountID) -> Data {
        guard let decoded = try? self.edit(edit), let seen = decoded.expectedVersion else { return edit }
        let version = own.following(seen, in: stream, of: account)
        return version == seen ? edit : (try? JSONEncoder().encode(decoded.expecting(version))) ?? edit
    }

    func restore(_ item: OutboxItem) throws(QuartetError) {
        let edit = try edit(item)
        let time = item.actedAtServer ?? item.acted
        holder.change(touched: edit.touched) { replica in
            replica.begin(
                item.id, inOrder: item.lane, showing(edit, of: item.account, at: time),
                until: { edit.isPart(of: $0) })
            if let command = item.accepted {
                replica.accept(item.id, CommandReply(command: command, event: item.command))
            }
        }
    }

    func merged(_ item: OutboxItem, with earlier: OutboxItem) -> JoinedEdit? {
        guard earlier.stream == stream, earlier.command == item.command, let old = try? edit(earlier),
            let new = try? edit(item), let merged = new.merged(with: old, on: holder.state(before: earlier.id)),
            let known = try? parts(of: earlier)
        else { return nil }
        var (parts, own): ([Edit], Edit?) = ([], new)
        for part in known {
            guard let mine = own, mine.overlaps(part) else {
                parts.append(part)
                continue
            }
            own = mine.merged(with: part, on: nil)
        }
        return try? joined(merged, parts + [own].compactMap { $0 })
    }

    func split(_ item: OutboxItem, basedOn current: [UInt8]) -> (rest: JoinedEdit, lost: Data)? {
        guard let parts = try? parts(of: item) else { return nil }
        var (kept, lost): ([Edit], [Edit]) = ([], [])
        for part in parts {
            if (try? part.command(basedOn: current)) != nil { kept.append(part) } else { lost.append(part) }
        }
        // Some may have been refused before.
        let former = item.lost.flatMap { try? edit($0.edit) }
        guard let rest = together(kept), !lost.isEmpty, let over = together([former].compactMap { $0 } + lost),
            let encoded = try? joined(rest, kept)
        else { return nil }
        return (try? JSONEncoder().encode(over)).map { (encoded, $0) }
    }

    func overlap(_ edit: Data, _ other: Data) -> Bool {
        guard let edit = try? self.edit(edit), let other = try? self.edit(other) else { return true }
        return edit.overlaps(other)
    }

    private func together(_ parts: [Edit]) -> Edit? {
        parts.dropFirst().reduce(parts.first) { all, part in all.flatMap { part.merged(with: $0, on: nil) } }
    }

    private func joined(_ edit: Edit, _ parts: [Edit]) throws -> JoinedEdit {
        JoinedEdit(
            edit: try JSONEncoder().encode(edit),
            parts: parts.count > 1 ? try parts.map { try JSONEncoder().encode($0) } : nil)
    }

    private func parts(of item: OutboxItem) throws(QuartetError) -> [Edit] {
        var parts: [Edit] = []
        for part in item.parts ?? [item.edit] { parts.append(try edit(part)) }
        return parts
    }

    func show(_ item: OutboxItem, insteadOf earlier: OutboxItem?) {
        guard let edit = try? edit(item) else { return }
        let time = item.actedAtServer ?? item.acted
        holder.change(touched: edit.touched) { replica in
            replica.replace(item.id, showing(edit, of: item.account, at: time), until: { edit.isPart(of: $0) })
            if let earlier { replica.drop(earlier.id) }
        }
    }

    func body(of item: OutboxItem, at acted: Instant) throws(QuartetError) -> [UInt8] {
        var edit = try edit(item)
        // What the device changed itself before, its person knows.
        if let seen = edit.expectedVersion { edit = edit.expecting(own.following(seen, in: stream, of: item.account)) }
        let command = edit.command(for: holder.base, at: acted)
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

    /// What is going to be refused, because somebody else was quicker, doesn't show: its person would take their own old choice for what
    /// stands, beside the version of the new one.
    private func showing(_ edit: Edit, of account: AccountID?, at time: Instant) -> Replica<Edit.State>.Change {
        { [own, stream] state in
            if let seen = edit.expectedVersion,
                own.following(seen, in: stream, of: account)
                    != own.following(Edit.version(in: state), in: stream, of: account)
            {
                return
            }
            edit.show(in: &state, at: time)
        }
    }

    private func edit(_ item: OutboxItem) throws(QuartetError) -> Edit { try edit(item.edit) }

    private func edit(_ encoded: Data) throws(QuartetError) -> Edit {
        do { return try JSONDecoder().decode(Edit.self, from: encoded) } catch { throw .unreadable("\(error)") }
    }
}
