import Crypto
import Foundation
import NIOCore

/// The files of the console, as they are sent to browsers.
///
/// Their paths contain a version, which changes with any of them, so a browser may keep each file for good. Modules import each
/// other by relative paths, so they stay within their version. Only the page itself is asked for again.
struct ConsoleFiles: Sendable {
    /// A file as it is sent.
    struct File: Sendable {
        let bytes: ByteBuffer
        /// Its media type.
        let type: String
    }

    /// The folder isn't there, or has no page.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// A fingerprint of all files.
    let version: String
    /// The page that every path of the console shows to people.
    let page: File
    /// The same for operators, who have modules of their own.
    let operatorsPage: File
    private let files: [String: File]

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
        "txt": "text/plain; charset=utf-8",
    ]

    /// Reads a folder: `index.html`, `ops.html`, and what they need.
    /// - Throws: ``Missing``.
    init(folder: URL) throws {
        let root = folder.resolvingSymlinksInPath().path + "/"
        var files: [String: File] = [:]
        var digest = SHA256()
        let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        for path in paths.sorted() {
            guard let type = Self.types[String(path.split(separator: ".").last ?? "")] else { continue }
            let bytes = try Data(contentsOf: URL(filePath: root + path))
            files[path] = File(bytes: ByteBuffer(bytes: bytes), type: type)
            digest.update(data: Data("\(path) \(bytes.count)\n".utf8) + bytes)
        }
        let templates = ["index.html", "ops.html"].compactMap { name in
            try? String(contentsOf: URL(filePath: root + name), encoding: .utf8)
        }
        guard templates.count == 2 else {
            throw Missing(description: "the console's files aren't in \(root); say where they are: --console-folder")
        }
        digest.update(data: Data(templates.joined().utf8))
        let version = digest.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
        let folder = "/console/\(version)/"
        // The browser asks for all modules at once, instead of finding them one import after the other.
        func page(_ template: String, isForOperators: Bool) -> File {
            let modules = files.keys.filter { $0.hasSuffix(".js") && $0.hasPrefix("ops/") == isForOperators }.sorted()
                .map { "<link rel=\"modulepreload\" href=\"\(folder)\($0)\">" }.joined(separator: "\n    ")
            let text = template.replacing("<!-- modules -->", with: modules).replacing(
                "/console/current/", with: folder)
            return File(bytes: ByteBuffer(string: text), type: "text/html; charset=utf-8")
        }
        self.version = version
        self.page = page(templates[0], isForOperators: false)
        operatorsPage = page(templates[1], isForOperators: true)
        self.files = files
    }

    /// - Parameter path: As `core/view.js`.
    subscript(path: String) -> File? { files[path] }
}
