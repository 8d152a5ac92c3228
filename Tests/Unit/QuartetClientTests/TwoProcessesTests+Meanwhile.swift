import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetStorage
import TestKit
import Testing

@testable import QuartetClient

/// What becomes of changes that somebody else sends, decides or drops while a slow disk is still at them.
extension TwoProcessesTests {
    private static func call(_ id: OutboxItem.ID = 1, _ command: String = "RaiseAlert") -> OutboxItem {
        OutboxItem(
            id: id, stream: "nobody", command: command, acted: .now, lifetime: .hours(1), actedAtServer: nil,
            account: Server.account, edit: Data())
    }

    /// The same as one that is sent under a key of its own.
    private static func sent(_ item: OutboxItem) -> OutboxItem {
        var sent = item
        (sent.key, sent.body) = (RequestKey(.new()), Data("{}".utf8))
        return sent
    }

    @Test("what a sign-out dropped before its turn came isn't kept once its person is signed in again (F9, S17)")
    func droppedMeanwhile() async throws {
        try await Self.withSlowDisk { server, store, app, _ in
            let outbox = app.connection.outbox
            server.goOffline()
            let gate = store.stops { $0 == .remove }
            let removing = Task { try await outbox.store.remove(1, of: Server.account) }
            try await gate.reached()
            let clearing = Task { try await app.user.clearAlert() }
            while outbox.state.withLock({ $0.adding.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            outbox.reset()
            let added = Observed(0)
            let count: @Sendable (FailingSharedStore.Write) async -> Void = { write in
                if write == .add { added.update { $0 += 1 } }
            }
            store.beforeWrite.withLock { $0 = count }
            gate.open()
            try await removing.value
            // It is kept once more for whoever is signed in, as a change of theirs.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await clearing.value }
            #expect(added.value == 1)
        }
    }
}
