import TestKit
import Testing

@testable import package_graph

@Suite("Errors that are dropped")
struct DroppedErrorsTests {
    private func violations(_ text: String, _ reasons: DroppedErrors.Reason...) -> [String] {
        DroppedErrors(files: [PackageGraph.File(path: "Services/X/Sending.swift", text: text)], reasons: reasons)
            .violations
    }

    @Test(
        "a `try?` whose value nobody takes is found, and a `catch` that does nothing",
        arguments: [
            ("    try? await table.postpone(claimed)", "table.postpone"), ("_ = try? query(bell)", "query"),
            ("group.addTask { try? send() }", "send"), ("defer { try? file.close() }", "file.close"),
            ("work.begin { row in try? delete(row) }", "delete"), ("do { try send() } catch {}", "catch"),
            ("case .ready: try? send()", "send"), ("count += 1; try? send()", "send"),
            ("try? await cancelWhenGracefulShutdown {", "cancelWhenGracefulShutdown"),
        ])
    func dropped(line: String, call: String) {
        let found = violations("let a = 1\n// try? this()\n\(line)")
        #expect(
            found == [
                "Services/X/Sending.swift:3: the error of \(call) is dropped, without a reason in DroppedErrors.reasons"
            ])
        #expect(violations(line, .init("Services/X/Sending.swift", call, "a test")) == [])
        #expect(violations(line, .init("Services/Y/Sending.swift", call, "a test")).count == 2)
    }

    @Test(
        "a `try?` whose value is taken isn't one, nor is a wait that only being cancelled ends",
        arguments: [
            "let name = try? read()", "guard let name = try? read() else { return }",
            "let all = rows.map { try? read($0) }",
            "let all = rows.compactMap { row in try? read(row) }",
            "var last: String? { get async { try? await read() } }",
            "return try? read()", "let count = (try? read())?.count ?? 0", "try? await Task.sleep(for: pause)",
            "send(\n    try? read(), after: pause)", "let kept = rows.compactMap { row in\n    try? read(row)\n}",
            "do { try send() } catch let error as SendingError { fail(error) }",
            "} catch {\n    // Not yet.\n    fail()\n}",
        ])
    func taken(text: String) {
        #expect(violations(text) == [])
    }

    @Test("a reason is for one error: the same call that drops another one needs another")
    func twice() {
        let reason = DroppedErrors.Reason("Services/X/Sending.swift", "query", "a test")
        #expect(violations("try? query(bell)\nsend()\ntry? query(rows)", reason).count == 1)
        #expect(violations("try? query(bell)\nsend()\ntry? query(rows)", reason, reason) == [])
        #expect(violations("try? query(bell)", reason, reason).count == 1)
    }

    @Test("a `catch` with nothing but a comment in it is found as well")
    func commented() {
        #expect(violations("do {\n    try send()\n} catch {\n    // Later.\n}").count == 1)
    }

    @Test("an effect that nothing can cancel is found; one with an id isn't")
    func effects() {
        #expect(
            violations("case .find:\n    return .run { send in send(.found) }") == [
                "Services/X/Sending.swift:2: an effect has no id, without a reason in DroppedErrors.reasons"
            ])
        #expect(violations("return .merge(.run { send in send(.found) }, .none)").count == 1)
        #expect(violations("return .run(id: \"find\") { send in send(.found) }") == [])
        #expect(violations("try await connection.run { database in database.settle() }") == [])
    }

    @Test("a reason for what isn't there is found")
    func outdated() {
        #expect(
            violations("let a = 1", .init("Services/X/Sending.swift", "query", "a test")) == [
                "Services/X/Sending.swift: query: the list has a reason for what isn't there"
            ])
    }

    @Test("every error that is dropped in this package is listed with its reason, and every effect has an id (R22)")
    func thisPackage() throws {
        #expect(try DroppedErrors(package: Products.package).violations == [])
        #expect(DroppedErrors.reasons.allSatisfy { !$0.reason.isEmpty })
    }
}
