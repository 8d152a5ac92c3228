import QuartetAPI
import QuartetVocabulary
import TestKit
import Testing

@testable import SessionClientService

@Suite("Session-client: lists of group sessions")
struct GroupListReaderTests {
    @Test("a change that 600 connections show is read by a few statements, hardly two at a time, not by one each (T22)")
    func together() async throws {
        let (statements, running) = (Observed<[Int]>([]), Observed(0))
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let reader = GroupListReader { accounts in
            running.update { $0 += 1 }
            // Two while one is stuck.
            #expect(running.value <= 2)
            statements.update { $0.append(accounts.count) }
            // The first one lasts until all others have come.
            if statements.value.count == 1 { for await _ in gate { break } }
            running.update { $0 -= 1 }
            return [:]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await reader.offers(to: .new()) }
            try await statements.wait("the first") { $0.isEmpty ? nil : true }
            let asked = Observed(0)
            for _ in 0..<600 {
                group.addTask {
                    asked.update { $0 += 1 }
                    _ = try await reader.offers(to: .new())
                }
            }
            try await asked.wait("all") { $0 == 600 ? true : nil }
            opener.yield()
            try await group.waitForAll()
        }
        // Someone may have been about to ask when the first one ended.
        #expect(statements.value.reduce(0, +) == 601 && statements.value.count <= 8, "\(statements.value)")
    }
}
