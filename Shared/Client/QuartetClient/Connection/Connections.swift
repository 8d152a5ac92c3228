/// Several servers, each with a connection of its own.
public struct Connections: Sendable {
    private let connections: [String: Connection]
    /// The one that is used where none is named.
    public let `default`: Connection

    /// - Parameters:
    ///   - connections: By the names that they are found under.
    ///   - default: One of them.
    /// - Precondition: The default is among them.
    public init(_ connections: [String: Connection], default name: String) {
        guard let connection = connections[name] else { preconditionFailure("there is no connection \(name)") }
        self.connections = connections
        `default` = connection
    }

    /// Nil if there is no server of this name.
    public subscript(name: String) -> Connection? { connections[name] }

    public var names: [String] { connections.keys.sorted() }

    /// Keeps all of them connected until the task is cancelled. What happens to one doesn't concern the others.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for connection in connections.values { group.addTask { await connection.run() } }
        }
    }
}
