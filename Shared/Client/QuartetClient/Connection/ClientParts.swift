import Synchronization

/// What the clients of one connection are made of, one of each kind: however often clients are made, they show the same copies and
/// send through the same queues.
struct ClientParts: Sendable {
    private struct Part: Sendable {
        weak let part: (any AnyObject & Sendable)?
    }

    /// Copies don't keep the connection, so the connection can keep them.
    private var copies: [ObjectIdentifier: any StreamConsumer] = [:]
    /// These do, so they go with the last client that has them.
    private var parts: [ObjectIdentifier: Part] = [:]

    /// - Returns: The copy, and whether it was made just now.
    mutating func copy<Copy: StreamConsumer>(_ make: () -> Copy) -> (Copy, isNew: Bool) {
        if let copy = copies[ObjectIdentifier(Copy.self)] as? Copy { return (copy, false) }
        let copy = make()
        copies[ObjectIdentifier(Copy.self)] = copy
        return (copy, true)
    }

    /// The copy, if any client has asked for it.
    func made<Copy: StreamConsumer>(_ type: Copy.Type) -> Copy? { copies[ObjectIdentifier(type)] as? Copy }

    mutating func part<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value {
        if let part = parts[ObjectIdentifier(Value.self)]?.part as? Value { return part }
        let part = make()
        parts[ObjectIdentifier(Value.self)] = Part(part: part)
        return part
    }
}

extension Connection {
    /// A client's copy of one or more sequences, which is attached when it is asked for first.
    func copy<Copy: StreamConsumer>(_ make: () -> Copy) -> Copy {
        let (copy, isNew) = parts.withLock { $0.copy(make) }
        if isNew { attach(copy) }
        return copy
    }

    /// The same, if it was asked for before.
    func madeCopy<Copy: StreamConsumer>(_ type: Copy.Type) -> Copy? { parts.withLock { $0.made(type) } }

    /// What the clients of one kind share as long as there are any.
    func part<Part: AnyObject & Sendable>(_ make: () -> Part) -> Part { parts.withLock { $0.part(make) } }
}
