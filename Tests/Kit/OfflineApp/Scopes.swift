import Foundation
import QuartetClient
import TestKit

/// Opens and cancels connections, and says `left N sockets, M connections`, those of the first one not counted, when no more of
/// them end.
struct Scopes {
    private final class Held {
        weak var connection: Connection?

        init(_ connection: Connection) { self.connection = connection }
    }

    let url: URL
    let handle: String

    func run(_ count: Int) async throws {
        let tokens = InMemoryTokenStore()
        // What Foundation opens once, for all connections of a process.
        let first = try await end(of: [try await use(tokens, isNew: true)], sockets: 0, within: .seconds(2))
        var held: [Held] = []
        for _ in 1..<count { held.append(try await use(tokens, isNew: false)) }
        let left = try await end(of: held, sockets: first, within: .seconds(60))
        OfflineApp.say("left \(max(left - first, 0)) sockets, \(held.count { $0.connection != nil }) connections")
    }

    /// Waits until no connection is left and no more sockets are open than that.
    /// - Returns: How many are.
    private func end(of held: [Held], sockets few: Int, within limit: Duration) async throws -> Int {
        let start = ContinuousClock.now
        // The system closes sockets when it gets round to it, and says so to nobody.
        while try openSockets() > few || held.contains(where: { $0.connection != nil }), .now - start < limit {
            try await Task.sleep(for: .milliseconds(20))
        }
        return try openSockets()
    }

    private func use(_ tokens: InMemoryTokenStore, isNew: Bool) async throws -> Held {
        let connection = Connection(transport: try OfflineApp.transport(url), tokens: tokens)
        let quartet = Quartet.live(connection)
        if isNew {
            _ = try await quartet.session.signUp(
                SignUpRequest(handle: handle, password: "correct horse battery", name: "Anna"))
        }
        try await quartet.session.restore()
        try await withThrowingTaskGroup { group in
            group.addTask { await connection.run() }
            try await connection.ready()
            group.cancelAll()
        }
        return Held(connection)
    }
}
