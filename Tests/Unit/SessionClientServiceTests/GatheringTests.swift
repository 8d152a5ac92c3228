import API
import SessionClientOrchestration
import TestKit
import Testing
import Vocabulary

@testable import Postgres
@testable import SessionClientService

@Suite("Session-client: what is written together")
struct GatheringTests {
    private struct Batch: GatheredBatch {
        var items: [Self] { numbers.map { Self(numbers: [$0]) } }
        var numbers: [Gathered<Int, Int>] = []
        var count: Int { numbers.count }
        func fail(_ error: any Error) { for number in numbers { number.give(.failure(error)) } }
    }

    /// Doubles numbers, and holds up the batch in which a zero is.
    private struct Scene {
        let batches = Observed<[[Int]]>([])
        let isOpen = Observed(false)
        let gathered = Observed(0)
        let gathering: Gathering<Batch>

        init(refusing refused: Int? = nil) {
            gathering = Gathering { [batches, isOpen] batch in
                let numbers = batch.numbers.map(\.item)
                batches.update { $0.append(numbers) }
                if numbers.contains(0) { try await isOpen.wait("the way to be free") { $0 ? true : nil } }
                if let refused, numbers.contains(refused) { throw GatheringTests.refusal }
                for number in batch.numbers { number.give(.success(number.item * 2)) }
            }
        }

        func double(_ number: Int) async throws -> Int {
            try await gathering.write(number) { [gathered] batch, item in
                batch.numbers.append(item)
                gathered.update { $0 += 1 }
            }
        }

        /// Has one number hold up the first batch while the others gather for the next.
        func doubleTogether(_ others: [Int]) async throws -> [Result<Int, any Error>] {
            let first = Task { try await double(0) }
            try await batches.wait("the first batch") { $0.first }
            return try await withThrowingTaskGroup(of: (Int, Result<Int, any Error>).self) { group in
                for (index, number) in others.enumerated() {
                    group.addTask {
                        do { return (index, .success(try await self.double(number))) } catch {
                            return (index, .failure(error))
                        }
                    }
                    try await gathered.wait("the number to be added") { $0 == index + 2 ? true : nil }
                }
                isOpen.update { $0 = true }
                #expect(try await first.value == 0)
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
            }
        }
    }

    private static let refusal = PostgresError.server(
        ServerError(
            sqlState: "23514", severity: "ERROR", message: "not this one", detail: nil, hint: nil, schema: nil,
            table: nil, column: nil, constraint: nil, context: nil))

    @Test("what is asked for while a batch is on its way is written with the next, and each gets its own answer")
    func together() async throws {
        let scene = Scene()
        let results = try await scene.doubleTogether([1, 2, 3])
        #expect(try results.map { try $0.get() } == [2, 4, 6])
        #expect(scene.batches.value == [[0], [1, 2, 3]])
    }

    @Test("a refusal reaches only the one at fault")
    func refused() async throws {
        let scene = Scene(refusing: 2)
        let results = try await scene.doubleTogether([1, 2, 3])
        #expect(results.map { try? $0.get() } == [2, nil, 6])
        #expect(throws: PostgresError.self) { try results[1].get() }
        #expect(scene.batches.value == [[0], [1, 2, 3], [1], [2], [3]])
        #expect(try await scene.double(4) == 8, "the next batch is written")
    }

    @Test("one that is cancelled waits no longer, and the others of its batch get their answers")
    func cancelled() async throws {
        let scene = Scene()
        let first = Task { try await scene.double(0) }
        try await scene.batches.wait("the first batch") { $0.first }
        let second = Task { try await scene.double(1) }
        try await scene.gathered.wait("both numbers") { $0 == 2 ? true : nil }
        first.cancel()
        await #expect(throws: PostgresError.self) { try await first.value }
        scene.isOpen.update { $0 = true }
        #expect(try await second.value == 2)
    }

    @Test("sagas of one account begin in different transactions, in the order in which they were asked for")
    func accounts() {
        let (anna, bob) = (AccountID.new(), AccountID.new())
        var batch = SagaWriter.Batch()
        let beginnings = [anna, bob, anna, anna].map { account in
            SagaWriter.Beginning(
                id: .new(), type: "ClearAllReceivedPings", lane: "", account: account, body: [],
                hash: BodyHash(type: "", version: 1, key: .account(account), account: account, body: []),
                correlationID: .new(), traceParent: nil, isWanted: true)
        }
        batch.beginnings = beginnings.map { Gathered($0) }
        var taken: [[ID<OperationSubject>]] = []
        while batch.count > 0 { taken.append(batch.take().beginnings.map(\.item.id)) }
        let ids = beginnings.map(\.id)
        #expect(taken == [[ids[0], ids[1]], [ids[2]], [ids[3]]])
    }
}
