import Crypto
import Foundation
import Gzip
import NIOCore

/// The files of the console, as they are sent to browsers.
///
/// A page has one script, made of its modules (``JoinedModules``), so a browser gets all that it needs over the six connections
/// that it has without HTTP/2. The paths contain a version, which changes with any file, so a browser may keep each for good.
/// Only the page itself is asked for again. English stands in the modules; of other languages, a page loads the texts of the one that it
/// speaks.
struct ConsoleFiles: Sendable {
    /// A file as it is sent.
    struct File: Sendable {
        let bytes: ByteBuffer
        /// The same, compressed; nil if it isn't.
        let gzip: ByteBuffer?
        /// Its media type.
        let type: String

        fileprivate init(_ bytes: Data, type: String, isCompressed: Bool) {
            self.bytes = ByteBuffer(bytes: bytes)
            self.gzip = isCompressed ? bytes.gzipped().map { ByteBuffer(bytes: $0) } : nil
            self.type = type
        }
    }

    /// The folder isn't there, or has no page.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// A fingerprint of all files as they are sent: what makes one script of the modules counts, too.
    let version: String
    /// The page that every path of the console shows to people.
    let page: File
    /// The same for operators, who have modules of their own.
    let operatorsPage: File
    /// The service worker, which keeps the page and its files. It has a path without a version: browsers ask for it again and again.
    let worker: File
    private let files: [String: File]

    private static let types = [
        "css": "text/css; charset=utf-8", "js": script, "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8", "json": "application/json",
    ]
    private static let script = "text/javascript; charset=utf-8"
    /// The modules that the two pages start with.
    private static let entries = ["app.js", "ops/app.js"]

    /// Reads a folder: `index.html`, `ops.html`, and what they need.
    /// - Parameters:
    ///   - pages: The first parts of the paths that are answered with the page.
    ///   - isCompressed: Whether to compress the files, which takes a while.
    /// - Throws: ``Missing``, ``JoinedModules/Refused``.
    init(folder: URL, pages: [String], isCompressed: Bool) throws {
        let root = folder.resolvingSymlinksInPath().path + "/"
        var files: [String: File] = [:]
        var modules: [String: String] = [:]
        var digest = SHA256()
        func add(_ bytes: Data, as path: String, _ type: String) {
            files[path] = File(bytes, type: type, isCompressed: isCompressed)
            digest.update(data: Data("\(path) \(bytes.count)\n".utf8) + bytes)
        }
        let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        for path in paths.sorted() {
            guard let type = Self.types[String(path.split(separator: ".").last ?? "")] else { continue }
            let bytes = try Data(contentsOf: URL(filePath: root + path))
            if type == Self.script {
                modules[path] = String(decoding: bytes, as: UTF8.self)
            } else {
                add(bytes, as: path, type)
            }
        }
        let templates = ["index.html", "ops.html"].compactMap { name in
            try? String(contentsOf: URL(filePath: root + name), encoding: .utf8)
        }
        guard templates.count == 2, let worker = modules["worker.js"] else {
            throw Missing(description: "the console's files aren't in \(root); say where they are: --console-folder")
        }
        for entry in Self.entries {
            add(Data(try JoinedModules.joined(from: entry, modules).utf8), as: entry, Self.script)
        }
        digest.update(data: Data((templates.joined() + worker + pages.joined(separator: " ")).utf8))
        let version = digest.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
        let folder = "/console/\(version)/"
        func page(_ template: String) -> File {
            let text = template.replacing("/console/current/", with: folder)
            return File(Data(text.utf8), type: "text/html; charset=utf-8", isCompressed: isCompressed)
        }
        let marked = templates[0].matches(of: /"\/console\/current\/([^"]+)"/).map { String($0.1) }
        self.page = page(templates[0])
        // The icon that the page has while there is an alarm stands in none of its tags, and neither does any language.
        let languages = files.keys.filter { $0.hasPrefix("languages/") }.sorted()
        let kept = (marked + ["icon-alert.svg"] + languages).compactMap { path in
            files[path].map { (folder + path, $0) }
        }
        let hashes = (kept + [("/", self.page)]).map { path, file in
            "'\(path)': '\(Data(SHA256.hash(data: Data(file.bytes.readableBytesView))).base64EncodedString())'"
        }
        let names = pages.map { "'\($0)'" }.joined(separator: ", ")
        let constants =
            "const version = '\(version)', files = { \(hashes.joined(separator: ", ")) }, pages = [\(names)]\n"
        self.worker = File(Data((constants + worker).utf8), type: Self.script, isCompressed: isCompressed)
        self.version = version
        operatorsPage = page(templates[1])
        self.files = files
    }

    /// - Parameter path: As `style/base.css`.
    subscript(path: String) -> File? { files[path] }
}
