import Foundation
import TestKit
import Testing

/// What the documents tell app developers to write.
@Suite
struct DocumentationTests {
    private static let folder = "Shared/Client/QuartetClient/QuartetClient.docc"
    private static let imports = """
        import Foundation
        import QuartetClient
        import QuartetClientTesting
        import QuartetStorage
        import Testing

        """

    /// The blocks of a language in a document.
    private static func blocks(_ document: String, _ language: String = "swift") throws -> [String] {
        let text = try String(contentsOf: Products.package.appending(path: document), encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    /// A file with a block's statements in a function, whose parameters are what a reader has.
    private static func file(_ index: Int, _ text: String) -> String {
        imports + """
            func text\(index)(_ server: URL, _ url: URL, _ folder: URL, _ handle: String, _ password: String) async throws {
            \(text)
            }
            """
    }

    private static func expectNoErrors(_ texts: [String], _ files: [String], with modules: URL? = nil) async throws {
        for (text, errors) in zip(texts, try await Compiler.errors(in: files, with: modules)) {
            #expect(errors == [], "\(text)")
        }
    }

    @Test("what the documents of the package for apps say compiles, the ten lines to begin with among it (P36, T29)")
    func compiles() async throws {
        let start = try Self.blocks("\(Self.folder)/GettingStarted.md")
        let readme = try Self.blocks("README.md")
        let articles = try ["Ownership", "Offline", "Testing", "Migrating", "Groups", "Playback"].map {
            try Self.blocks("\(Self.folder)/\($0).md")
        }
        let shorter = try ["QuartetClient", "Calls", "Accounts"].flatMap { try Self.blocks("\(Self.folder)/\($0).md") }
        #expect(start.count >= 3 && readme.count >= 1 && articles.allSatisfy { $0.count >= 3 } && shorter.count >= 6)
        let others: [String] = articles.flatMap(\.self) + shorter
        // The last one goes on where the one before it ends.
        let texts = start.dropLast(2) + [start.suffix(2).joined(separator: "\n")] + readme + others
        try await Self.expectNoErrors(texts, texts.enumerated().map(Self.file))
    }

    @Test(
        """
        the wrappers for SwiftUI, the keychain's store, what the system says of networks, and what the articles about SwiftUI and about dependencies say, compile \
        against their descriptions (P36, S42)
        """
    )
    func frameworks() async throws {
        let modules = FileManager.default.temporaryDirectory.appending(path: "modules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: modules) }
        let stubs = Products.package.appending(path: "Tests/Unit/QuartetClientTests/Stubs")
        for name in ["SwiftUI", "Security", "Dependencies", "Network", "UserNotifications"] {
            let file = stubs.appending(path: "\(name).swift")
            #expect(try await Compiler.makeModule(name, of: [file], in: modules) == [])
        }
        let wrappers = Products.package.appending(path: "Shared/Client/SwiftUI")
        let files = try FileManager.default.contentsOfDirectory(at: wrappers, includingPropertiesForKeys: nil)
        #expect(try await Compiler.makeModule("QuartetSwiftUI", of: files, in: modules) == [])
        for (folder, name) in [("Local", "KeychainTokenStore"), ("Connection", "SystemSurroundings")] {
            let text = try String(
                contentsOf: Products.package.appending(path: "Shared/Client/QuartetClient/\(folder)/\(name).swift"),
                encoding: .utf8)
            let copy = modules.appending(path: "\(name).swift")
            try "public import QuartetClient\n\(text)".write(to: copy, atomically: true, encoding: .utf8)
            #expect(try await Compiler.makeModule("\(name)Copy", of: [copy], in: modules) == [])
        }
        let content = "struct ContentView: View { var body: some View { Text(\"\") } }\n"
        for (article, language, more) in [
            ("FromSwiftUI", "swift swiftui", "import QuartetSwiftUI\nimport SwiftUI\n"),
            ("Accounts", "swift swiftui", "import QuartetSwiftUI\nimport SwiftUI\n\(content)"),
            ("FromTCA", "swift tca", "import Dependencies\n"),
        ] {
            let texts = try Self.blocks("\(Self.folder)/\(article).md", language)
            #expect(!texts.isEmpty)
            // The blocks of one article go together, and are declarations.
            let text = texts.joined(separator: "\n")
            try await Self.expectNoErrors([text], [Self.imports + more + text], with: modules)
        }
    }
}
