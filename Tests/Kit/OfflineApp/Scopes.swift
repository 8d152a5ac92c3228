import Foundation
import QuartetClient
import TestKit

/// Opens and cancels connections, and says `left N sockets, M connections` when no more of them end.
struct Scopes {
    private final class Held {
        weak var connection: Connection?

        init(_ connection: Connection) { self.connection = connection }
    }

    let url: URL
    let handle: String

    func run(_ count: Int) async throws {
        let tokens = InMemoryTokenStore()
        var held = [try await use(tokens, isNew: true)]
        for _ in 1..<count { held.append(try await use(tokens, isNew: false)) }
        // The system closes sockets when it gets round to it, and says so to nobody.
        for _ in 0..<500 {
            guard try openSockets() > 0 || held.contains(where: { $0.connection != nil }) else { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        OfflineApp.say("left \(try openSockets()) sockets, \(held.count { $0.connection != nil }) connections")
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
