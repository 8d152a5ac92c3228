/// Several servers, each with a connection of its own.
public struct Connections: Sendable {
    private let connections: [String: Connection]
    /// The one that is used where none is named.
    public let `default`: Connection

    /// - Parameters:
    ///   - name: The name under which the default is found.
    ///   - others: By their names.
    public init(default name: String, _ connection: Connection, others: [String: Connection] = [:]) {
        connections = others.merging([name: connection]) { $1 }
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
