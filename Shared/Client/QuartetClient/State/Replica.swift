import QuartetAPI
import QuartetVocabulary

/// What the server has, as far as it is known here, and this app's own edits on top of it.
///
/// An edit shows at once. Its command's event and its outcome arrive in either order, and the edit stays on top until both have, so
/// that a reader never sees the old value again in between. A refusal takes it away, and edits that follow it stay.
struct Replica<State: Sendable>: Sendable {
    typealias Change = @Sendable (inout State) -> Void

    private struct Edit: Sendable {
        let id: Int64
        /// Commands with one of these are decided in the order of their edits.
        let order: String
        var change: Change
        /// Whether the server's state has what it shows.
        var isPart: @Sendable (State) -> Bool
        var acceptance: Acceptance?
        /// How many heartbeats ago it was accepted without an event; nil if it wasn't.
        var age: Int?
    }

    /// The command was accepted, and its event is still to come.
    private struct Acceptance: Sendable {
        let command: CommandID
        /// The newest stream that was asked for by then. A snapshot of a later one has the change.
        let opening: Int
        var heartbeats = 0
    }

    /// Commands whose events arrived lately: an outcome may come after them.
    private static var memory: Int { 256 }
    /// For how many heartbeats an accepted edit waits for its event.
    private static var patience: Int { 8 }

    private(set) var base: State?
    private var edits: [Edit] = []
    private(set) var seen: [CommandID] = []
    /// The newest stream that was asked for.
    private var opening = 0
    /// The newest stream that brought a snapshot; nil if none did.
    private var snapshotOpening: Int?

    /// With the edits.
    var state: State? { state { _ in true } }

    /// What an edit stands on: what the server has, and the edits that were made before.
    func state(before id: Int64) -> State? { state { $0.id < id } }

    private func state(with isMeant: (Edit) -> Bool) -> State? {
        guard var state = base else { return nil }
        for edit in edits where isMeant(edit) { edit.change(&state) }
        return state
    }

    /// Forgets everything. Edits whose outcome comes later aren't mistaken for new ones.
    mutating func reset() {
        (base, edits, seen) = (nil, [], [])
    }

    // MARK: The server

    /// A stream is about to be asked for.
    mutating func begins(_ opening: Int) { self.opening = max(self.opening, opening) }

    /// What the device kept: the server's state at an earlier time.
    /// - Parameter commands: Those whose events it has.
    mutating func restore(_ state: State, with commands: [CommandID] = []) { (base, seen) = (state, commands) }

    /// The server's state from which its events go on.
    mutating func replace(_ state: State, opening: Int) {
        base = state
        begins(opening)
        snapshotOpening = opening
        edits.removeAll { $0.acceptance.map { $0.opening < opening } ?? false }
        // Those of this stream may be newer than its snapshot.
        for index in edits.indices { edits[index].acceptance?.heartbeats = 0 }
        endArrived(in: state)
    }

    /// Ends the edits whose commands brought no event and whose effects are here by now.
    private mutating func endArrived(in state: State) {
        edits.removeAll { $0.age != nil && $0.isPart(state) }
    }

    /// The sequence goes on where it was.
    mutating func resume(opening: Int) { begins(opening) }

    /// - Parameter command: The command that caused it.
    mutating func apply(causedBy command: CommandID?, _ change: (inout State) -> Void) {
        guard var state = base else { return }
        // The only reference, so that what no reader holds is changed in place.
        base = nil
        change(&state)
        base = state
        endArrived(in: state)
        guard let command else { return }
        // Also where the edit ends: its reply comes once more if the app was killed before the device kept it.
        seen.append(command)
        if seen.count > Self.memory { seen.removeFirst() }
        if let index = edits.firstIndex(where: { $0.acceptance?.command == command }) { end(through: index) }
    }

    /// Ends an edit that the base has by now, and the accepted ones before it in its order: those were decided before, so a snapshot
    /// had whatever of theirs brought no event.
    private mutating func end(through index: Int) {
        let (order, later) = (edits[index].order, edits[(index + 1)...])
        edits = edits[..<index].filter { $0.acceptance == nil || $0.order != order } + later
    }

    /// Nothing happens at the server. An accepted edit whose event was part of a snapshot has no event of its own: after the second
    /// heartbeat it would have come. In a sequence that was resumed it comes, however long a busy server takes.
    /// - Returns: Whether an event has been awaited for so long that a snapshot has to show what became of it.
    @discardableResult
    mutating func heartbeat() -> Bool {
        for index in edits.indices { edits[index].acceptance?.heartbeats += 1 }
        // What never comes, since the server has forgotten it for instance, doesn't show forever.
        for index in edits.indices { edits[index].age? += 1 }
        edits.removeAll { edit in
            guard let acceptance = edit.acceptance else { return edit.age ?? 0 >= 2 }
            return acceptance.opening == snapshotOpening && acceptance.heartbeats >= 2
        }
        return edits.contains { $0.acceptance?.heartbeats == Self.patience }
    }

    // MARK: Edits

    /// Another process's edit may be known here only after later ones.
    /// - Parameters:
    ///   - id: Edits are made in the order of these.
    ///   - order: Commands with the same are decided in the order of their edits.
    ///   - isPart: Whether the server's state has what the edit shows; asked if its command brings no event.
    mutating func begin(
        _ id: Int64, inOrder order: String = "", _ change: @escaping Change,
        until isPart: @escaping @Sendable (State) -> Bool = { _ in true }
    ) {
        let place = edits.firstIndex { $0.id > id } ?? edits.endIndex
        edits.insert(Edit(id: id, order: order, change: change, isPart: isPart), at: place)
    }

    /// An edit shows something else from now on.
    mutating func replace(_ id: Int64, _ change: @escaping Change, until isPart: @escaping @Sendable (State) -> Bool) {
        guard let index = edits.firstIndex(where: { $0.id == id }) else { return }
        (edits[index].change, edits[index].isPart) = (change, isPart)
    }

    mutating func accept(_ id: Int64, _ reply: CommandReply) {
        guard let index = edits.firstIndex(where: { $0.id == id }) else { return }
        guard reply.event != nil else {
            if base.map(edits[index].isPart) ?? true { edits.remove(at: index) } else { edits[index].age = 0 }
            return
        }
        guard !seen.contains(reply.command) else { return end(through: index) }
        edits[index].acceptance = Acceptance(command: reply.command, opening: opening)
    }

    mutating func drop(_ id: Int64) { edits.removeAll { $0.id == id } }

    var openEdits: Set<Int64> { Set(edits.map(\.id)) }
}
