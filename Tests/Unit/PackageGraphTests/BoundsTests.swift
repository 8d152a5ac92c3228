import TestKit
import Testing

@testable import package_graph

@Suite("The table of bounds")
struct BoundsTests {
    private static let source = PackageGraph.File(
        path: "Services/X/Sending+Slowly.swift",
        text: """
            struct Sending {
                private static let claimLimit = 100
                private let backoff = Backoff(initial: .seconds(1))
                let limit: Int
                // private static let oldLimit = 3
                func run() async { try? await Task.sleep(for: .seconds(1)) }
                let queue = AsyncStream<Int>.makeStream()
                let bell = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
                private static var concurrency: Int { 256 }
                private let reading = Credit(limit: 4)
                private static let farewell: Duration = .seconds(10)
                private static let lead: Interval = .hours(1)
                func loop() { while !worker.bell.wait(idlePoll).stop {} }
                func turn() { _ = semaphore.wait(timeout: .now()) }
            }
            """)

    private func violations(_ rows: String...) -> [String] {
        let document = "# A\n## Bounds\n| what | bound | at it | where | test |\n|---|---|---|---|---|\n"
        return Bounds(
            sources: [Self.source], document: document + rows.joined(separator: "\n") + "\n## B\n",
            tests: ["SendingTests"]
        ).violations
    }

    @Test("a limit, a pause, a queue and a loop without a row are found, with their lines")
    func missing() {
        let missing = [
            (3, "backoff"), (6, "pause"), (7, "queue"), (9, "concurrency"), (10, "reading"), (11, "farewell"),
            (13, "pause"), (14, "pause"),
        ]
        let sentences = missing.map { line, member in
            "Services/X/Sending+Slowly.swift:\(line): ARCHITECTURE.md has no row in \"Bounds\" that names Sending.\(member)"
        }
        #expect(violations("| claims | 100 | rest wait | `Sending.claimLimit` | `SendingTests` |") == sentences)
    }

    @Test("a row may stand for everything in a file")
    func whole() {
        #expect(violations("| sending | 100 | rest wait | `Sending.*` | `SendingTests` |") == [])
    }

    @Test("a row about what is gone, without a test, or with a test that isn't there is found")
    func outdated() {
        #expect(
            violations(
                "| sending | 100 | rest wait | `Sending.*` | `SendingTests` |",
                "| gone | 1 | refused | `Sending.oldLimit` | |", "| odd | 1 | refused | `Sending.*` | `NoTests` |") == [
                    "ARCHITECTURE.md, \"gone\": there is no Sending.oldLimit",
                    "ARCHITECTURE.md, \"gone\": the row names no test",
                    "ARCHITECTURE.md, \"odd\": there is no test file NoTests.swift",
                ])
    }

    @Test("a document without the table is refused")
    func noTable() {
        let found = Bounds(sources: [], document: "# A\n", tests: []).violations
        #expect(found == ["ARCHITECTURE.md has no table in its section \"Bounds\""])
    }

    @Test("every bound of this package has its row")
    func thisPackage() throws {
        #expect(try Bounds(package: Products.package).violations == [])
    }
}
