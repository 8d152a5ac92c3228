import Foundation
import TestKit
import Testing

/// What the documents tell app developers to write.
@Suite
struct DocumentationTests {
    private static let header = """
        import Foundation
        import QuartetClient
        import QuartetClientTesting
        import QuartetStorage
        import Testing

        func text(_ server: URL, _ url: URL, _ folder: URL, _ handle: String, _ password: String) async throws {

        """

    /// The Swift in a document, from a heading on.
    private static func blocks(_ document: String, from heading: String, to end: String? = nil) throws -> [String] {
        var text = try String(contentsOf: Products.package.appending(path: document), encoding: .utf8)[...]
        let start = try #require(text.range(of: heading))
        text = text[start.upperBound...]
        if let end, let range = text.range(of: end) { text = text[..<range.lowerBound] }
        return text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    @Test("what the documents of the package for apps say compiles, the ten lines to begin with among it (P36, T29)")
    func compiles() async throws {
        let article = "Shared/Client/QuartetClient/QuartetClient.docc/GettingStarted.md"
        let start = try Self.blocks(article, from: "# Getting started in ten lines")
        let readme = try Self.blocks("README.md", from: "## The package for apps", to: "\n## ")
        #expect(start.count >= 3 && readme.count >= 1)
        // The last one goes on where the one before it ends.
        let texts = start.dropLast(2) + [start.suffix(2).joined(separator: "\n")] + readme
        let files = texts.map { text in
            // Each file has names of its own.
            Self.header.replacing("func text(", with: "func text\(abs(text.hashValue))(") + text + "\n}\n"
        }
        for (text, errors) in zip(texts, try await Compiler.errors(in: files)) {
            #expect(errors == [], "\(text)")
        }
    }
}
