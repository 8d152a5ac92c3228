import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary
import TestKit
import Testing

@testable import Postgres
@testable import SessionClientService

@Suite("Session-client: what is written together")
struct GatheringTests {
    private struct Batch: GatheredBatch {
        var items: [Self] { numbers.map { Self(numbers: [$0]) } }
        var awaited: Self { Self(numbers: numbers.filter(\.isAwaited)) }
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

        init(
            refusing refused: Int? = nil, by refusal: PostgresError = GatheringTests.refusal("23514"),
            patience: Duration = .seconds(3600)
        ) {
            gathering = Gathering(patience: patience) { [batches, isOpen] batch in
                let numbers = batch.numbers.map(\.item)
                batches.update { $0.append(numbers) }
                if numbers.contains(0) { try await isOpen.wait("the way to be free") { $0 ? true : nil } }
                if let refused, numbers.contains(refused) { throw refusal }
                for number in batch.numbers { number.give(.success(number.item * 2)) }
            }
        }

        func double(_ number: Int, late: @escaping @Sendable (Int) -> Void = { _ in }) async throws -> Int {
            try await gathering.write(number, late: late) { [gathered] batch, item in
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

    private static func refusal(_ sqlState: String) -> PostgresError {
        .server(
            ServerError(
                sqlState: sqlState, severity: "ERROR", message: "not this one", detail: nil, hint: nil, schema: nil,
                table: nil, column: nil, constraint: nil, context: nil))
    }

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

    @Test("trouble of the database ends all of a batch at once: nothing of it is tried one by one")
    func trouble() async throws {
        let scene = Scene(refusing: 2, by: Self.refusal("57014"))
        let results = try await scene.doubleTogether(Array(1...50))
        #expect(results.allSatisfy { (try? $0.get()) == nil })
        #expect(scene.batches.value.count == 2)
        #expect(try await scene.double(51) == 102, "the next batch is written")
    }

    @Test("trouble that comes while a batch is written one by one ends the rest at once")
    func troubleBetween() async throws {
        let batches = Observed<[[Int]]>([])
        let isOpen = Observed(false)
        let gathered = Observed(0)
        let gathering = Gathering<Batch>(patience: .seconds(3600)) { batch in
            let numbers = batch.numbers.map(\.item)
            batches.update { $0.append(numbers) }
            if numbers == [0] { try await isOpen.wait("the way to be free") { $0 ? true : nil } }
            if numbers.count > 1 { throw Self.refusal("23514") }
            if numbers == [2] { throw Self.refusal("57014") }
            for number in batch.numbers { number.give(.success(number.item * 2)) }
        }
        let tasks = (0..<5).map { number in
            Task {
                if number > 0 { try await gathered.wait("the one before") { $0 == number ? true : nil } }
                let double: Int = try await gathering.write(number) { batch, item in
                    batch.numbers.append(item)
                    gathered.update { $0 += 1 }
                }
                return double
            }
        }
        try await gathered.wait("all") { $0 == 5 ? true : nil }
        isOpen.update { $0 = true }
        var results: [Int?] = []
        for task in tasks { results.append(try? await task.value) }
        #expect(results == [0, 2, nil, nil, nil])
        #expect(batches.value == [[0], [1, 2, 3, 4], [1], [2]])
    }

    @Test("what is asked for while a batch is stuck is written beside it")
    func stuck() async throws {
        let scene = Scene(patience: .milliseconds(1))
        let first = Task { try await scene.double(0) }
        try await scene.batches.wait("the first batch") { $0.first }
        #expect(try await scene.double(1) == 2)
        #expect(try await scene.double(2) == 4)
        scene.isOpen.update { $0 = true }
        #expect(try await first.value == 0)
        #expect(try await scene.double(3) == 6)
    }

    @Test("what nobody waits for any longer isn't written; what was on its way is given to the one who adopts it")
    func late() async throws {
        let scene = Scene()
        let adopted = Observed<[Int]>([])
        let first = Task { try await scene.double(0) { given in adopted.update { $0.append(given) } } }
        try await scene.batches.wait("the first batch") { $0.first }
        let second = Task { try await scene.double(1) { given in adopted.update { $0.append(given) } } }
        try await scene.gathered.wait("both numbers") { $0 == 2 ? true : nil }
        let third = Task { try await scene.double(2) }
        try await scene.gathered.wait("all numbers") { $0 == 3 ? true : nil }
        for task in [first, second] {
            task.cancel()
            await #expect(throws: PostgresError.self) { try await task.value }
        }
        scene.isOpen.update { $0 = true }
        #expect(try await third.value == 4)
        #expect(scene.batches.value == [[0], [2]] && adopted.value == [0])
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
