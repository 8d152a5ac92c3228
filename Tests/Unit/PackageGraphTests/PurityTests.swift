import TestKit
import Testing

@testable import package_graph

@Suite("What decides is pure")
struct PurityTests {
    private func violations(_ text: String, in path: String = "Services/Contacts/Rules/Pings.swift") -> [String] {
        Purity(files: [PackageGraph.File(path: path, text: text)], exceptions: []).violations
    }

    @Test(
        "a clock, randomness, the outside and tasks are found in rules, each by its line",
        arguments: [
            ("let now = Instant.now", "a clock"), ("send(at: .now)", "a clock"), ("let end = .now + pause", "a clock"),
            ("let begun = ContinuousClock().now", "a clock"), ("let id = AlarmID.new()", "randomness"),
            ("let place = Int.random(in: 0..<8)", "randomness"), ("let spread = account.hashValue", "randomness"),
            ("let first = people.shuffled().first", "randomness"), ("print(state)", "the outside"),
            ("let ids = people.map(AlarmID.new)", "randomness"),
            ("let end = Date(timeIntervalSinceNow: 5)", "a clock"),
            ("let zone = TimeZone.current", "the outside"), ("let text = try String(contentsOf: file)", "the outside"),
            ("let home = ProcessInfo.processInfo.environment", "the outside"),
            ("Task { await tell() }", "a task or what tasks share"),
            ("private let known = Mutex<Set<AccountID>>([])", "a task or what tasks share"),
        ])
    func signs(line: String, what: String) {
        let found = violations("import QuartetVocabulary\n\n/// As of now.\n    \(line)\n")
        #expect(
            found.contains(
                "Services/Contacts/Rules/Pings.swift:4: it uses \(what), and what decides must be pure: \(line)"),
            "\(found)")
    }

    @Test("the asker's time is no clock, comments aren't read, and a saga may await its steps, which nothing else may")
    func allowed() {
        #expect(violations("let due = asker.now + after\n// Date() would be wrong.\nlet at = context.time") == [])
        let waiting = "package func run(_ steps: some SagaSteps) async throws { try await steps.ask() }"
        #expect(violations(waiting, in: "Services/SessionClient/Orchestration/Sagas/SignOut.swift") == [])
        #expect(violations(waiting, in: "Services/SessionClient/Orchestration/Policies/Telling.swift").count == 1)
        #expect(violations(waiting).count == 1)
    }

    @Test("rules import contracts and the vocabulary, and what their area is allowed")
    func imports() {
        #expect(violations("package import QuartetContactsContract\nimport QuartetVocabulary") == [])
        #expect(
            violations("import Foundation") == [
                "Services/Contacts/Rules/Pings.swift:1: Foundation is more than what decides may know"
            ])
        #expect(violations("import Crypto", in: "Services/Session/Rules/SignIn/Recovery.swift") == [])
        #expect(violations("import Crypto").count == 1)
    }

    @Test("an exception allows its line, and one that no line needs is found")
    func exceptions() {
        let exception = Purity.Exception(code: "let id = AlarmID.new()", reason: "a test")
        let file = PackageGraph.File(path: "Services/Contacts/Rules/A.swift", text: "    let id = AlarmID.new()")
        #expect(Purity(files: [file], exceptions: [exception]).violations == [])
        #expect(
            Purity(files: [], exceptions: [exception]).violations == [
                "no such line needs an exception: let id = AlarmID.new()"
            ])
    }

    @Test("rules, policies, sagas and folds of this package know no clock, no randomness and no I/O (R1)")
    func thisPackage() throws {
        #expect(try Purity(package: Products.package).violations == [])
    }
}
