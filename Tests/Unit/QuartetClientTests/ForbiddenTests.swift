import Foundation
import TestKit
import Testing

/// What an app must not be able to write. The compiler says why.
@Suite
struct ForbiddenTests {
    struct Snippet: Sendable {
        let title: String
        let text: String
        let message: String
    }

    private static let snippets = [
        Snippet(
            title: "making a state", text: "func f() { _ = ReadOnlyContactsState(nil) }",
            message: "'ReadOnlyContactsState' initializer is inaccessible due to 'fileprivate' protection level"),
        Snippet(
            title: "decoding a state",
            text: "func f(_ data: Data) throws { _ = try JSONDecoder().decode(ReadOnlyUserState.self, from: data) }",
            message: "requires that 'ReadOnlyUserState' conform to 'Decodable'"),
        Snippet(
            title: "assigning shared state",
            text: "func f(_ contacts: inout Shared<ReadOnlyContactsState>) { contacts.isApprovalRequired = true }",
            message: "cannot assign"),
        Snippet(
            title: "replacing shared state",
            text: "func f(_ a: Shared<ReadOnlyUserState>, _ b: ReadOnlyUserState) { _ = a.replace(b, Phase.ready) }",
            message: "has no dynamic member 'replace'"),
        Snippet(
            title: "changing through the lock",
            text: "func f(_ contacts: Shared<ReadOnlyContactsState>) { contacts.watched.withLock { _ in } }",
            message: "has no dynamic member 'watched'"),
        Snippet(
            title: "reaching what a state is made of",
            text: "func f(_ state: ReadOnlyNotificationsState) { _ = state.state }",
            message: "'state' is inaccessible due to 'private' protection level"),
        Snippet(
            title: "forging a position",
            text: "func f() { var sequencer = StreamSequencer(); _ = sequencer.open() }",
            message: "cannot find 'StreamSequencer' in scope"),
        Snippet(
            title: "being a client's stream",
            text: "func f(_ connection: Connection) { connection.attach(0) }",
            message: "'attach' is inaccessible due to 'internal' protection level"),
    ]

    private static let allowed = """
        func f(_ quartet: Quartet) async throws {
            _ = quartet.contacts.contacts.responders
            try await quartet.contacts.sendPing(quartet.contacts.contacts.ids[0])
        }
        """

    @Test(
        "apps can't make, decode, assign or reach shared state, or forge a place in a stream: the compiler refuses (S1, P10)"
    )
    func forbidden() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "forbidden-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        for (index, text) in (Self.snippets.map(\.text) + [Self.allowed]).enumerated() {
            let file = folder.appending(path: "snippet\(index).swift")
            // Each file has names of its own.
            let body = text.replacing("func f(", with: "func f\(index)(")
            try "import Foundation\nimport QuartetClient\n\(body)\n".write(to: file, atomically: true, encoding: .utf8)
            files.append(file.path)
        }
        let lines = try await Self.typecheck(files)
        for (index, snippet) in Self.snippets.enumerated() {
            let errors = lines.filter { $0.contains("snippet\(index).swift:") && $0.contains("error:") }
            #expect(
                errors.contains { $0.contains(snippet.message) },
                "\(snippet.title) compiled, or failed for another reason: \(errors)")
        }
        let wrong = lines.filter { $0.contains("snippet\(Self.snippets.count).swift:") && $0.contains("error:") }
        #expect(wrong == [], "what apps may write doesn't compile")
    }

    /// What the compiler says about these files, against the modules that were built together with this test.
    private static func typecheck(_ files: [String]) async throws -> [String] {
        let built = Products.folder
        // In one go, or the first file with an error ends it; and one line an error.
        var arguments = [
            "swiftc", "-typecheck", "-wmo", "-diagnostic-style", "llvm", "-swift-version", "6", "-I",
            built.appending(path: "Modules").path,
        ]
        // The C modules that Swift Crypto is made of.
        let checkouts = Products.package.appending(path: ".build/checkouts/swift-crypto/Sources")
        for name in ["CCryptoBoringSSL", "CCryptoBoringSSLShims", "CXKCP", "CXKCPShims"] {
            let map = checkouts.appending(path: name).appending(path: "include/module.modulemap")
            guard FileManager.default.fileExists(atPath: map.path) else { continue }
            arguments += ["-Xcc", "-fmodule-map-file=\(map.path)"]
        }
        let compiler = try await ChildProcess.start("/usr/bin/env", arguments + files, name: "swiftc")
        _ = try await compiler.waitForExit()
        let lines = compiler.lines()
        await compiler.end()
        return lines
    }
}
