import TestKit
import Testing

@testable import SessionClientService

@Suite("Session-client: how many at a time")
struct CreditTests {
    /// How those ended that wanted room.
    private struct Ends: Sendable {
        var (served, cancelled) = (0, 0)
    }

    private func use(_ credit: Credit, _ ends: Observed<Ends>) -> Task<Void, Never> {
        Task {
            do {
                try await credit.use {}
                ends.update { $0.served += 1 }
            } catch { ends.update { $0.cancelled += 1 } }
        }
    }

    @Test("who waits for room lets go when it is cancelled, and the room goes to the others (T18)")
    func cancelled() async throws {
        let (credit, ends) = (Credit(limit: 1), Observed(Ends()))
        try await credit.take()
        let waiting = (0..<3).map { _ in use(credit, ends) }
        for task in waiting.dropLast() { task.cancel() }
        try await ends.wait("those who were cancelled") { $0.cancelled == 2 ? true : nil }
        credit.give()
        try await ends.wait("the one that still waits") { $0.served == 1 ? true : nil }
        // None got lost with those who let go.
        _ = use(credit, ends)
        try await ends.wait("the next one") { $0.served == 2 ? true : nil }
    }

    @Test("whoever is cancelled before it waits takes nothing; closing lets all go")
    func closed() async throws {
        let (credit, ends) = (Credit(limit: 0), Observed(Ends()))
        _ = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            do { try await credit.take() } catch { ends.update { $0.cancelled += 1 } }
        }
        try await ends.wait("the one that came cancelled") { $0.cancelled == 1 ? true : nil }
        for _ in 0..<3 { _ = use(credit, ends) }
        credit.close()
        try await ends.wait("all others") { $0.served == 3 ? true : nil }
    }

    @Test("however many come and are cancelled, no more than the limit are under way, and all room is given back")
    func random() async throws {
        try await withRandom { random in
            let (credit, underWay) = (Credit(limit: 3), Observed(0))
            let tasks = (0..<200).map { _ in
                Task {
                    try? await credit.use {
                        underWay.update { $0 += 1 }
                        #expect(underWay.value <= 3)
                        await Task.yield()
                        underWay.update { $0 -= 1 }
                    }
                }
            }
            for task in tasks where random.oneIn(3) {
                task.cancel()
                await Task.yield()
            }
            for task in tasks { await task.value }
            let ends = Observed(Ends())
            for _ in 0..<3 { try await credit.take() }
            _ = use(credit, ends)
            credit.give(3)
            try await ends.wait("the room that was given back") { $0.served == 1 ? true : nil }
        }
    }
}
