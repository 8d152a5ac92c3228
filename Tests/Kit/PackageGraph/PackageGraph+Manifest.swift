import Foundation

extension PackageGraph {
    /// The package's manifest could not be read.
    struct Unreadable: Error, CustomStringConvertible {
        /// Why.
        let description: String
    }

    /// Reads a package: its manifest through SwiftPM, its files from the disk.
    /// - Parameter package: The package's folder.
    /// - Throws: ``Unreadable``.
    init(package: URL) throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "package-graph-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let swift = Process()
        swift.executableURL = URL(filePath: "/usr/bin/env")
        // A scratch folder of its own: SwiftPM has locked the usual one while it runs the tests.
        swift.arguments = [
            "swift", "package", "--package-path", package.path, "--scratch-path", scratch.path, "dump-package",
        ]
        let output = Pipe()
        swift.standardOutput = output
        try swift.run()
        let manifest = try output.fileHandleForReading.readToEnd() ?? Data()
        swift.waitUntilExit()
        guard swift.terminationStatus == 0 else {
            throw Unreadable(description: "swift package dump-package failed in \(package.path); what it said is above")
        }
        try self.init(manifest: manifest) { path in try Self.files(in: package, below: path) }
    }

    /// Reads the JSON of `swift package dump-package`.
    /// - Parameters:
    ///   - manifest: The JSON.
    ///   - files: The files below a target's folder.
    /// - Throws: ``Unreadable``.
    init(manifest: Data, files: (_ path: String) throws -> [File]) throws {
        let package: Manifest
        do {
            package = try JSONDecoder().decode(Manifest.self, from: manifest)
        } catch {
            throw Unreadable(description: "swift package dump-package said something unexpected: \(error)")
        }
        published = Set((package.products ?? []).flatMap(\.targets))
        targets = try package.targets.map { target in
            let path = target.path ?? "Sources/\(target.name)"
            return Target(
                name: target.name, path: path, dependencies: Set(target.dependencies.compactMap(\.name)),
                packages: Set(target.dependencies.compactMap(\.package)),
                packagesWithoutTrait: Set(target.dependencies.filter { !$0.hasTrait }.compactMap(\.package)),
                files: try files(path))
        }
        // A target's folder may lie in another's; a file belongs to the innermost.
        let paths = targets.map(\.path)
        for index in targets.indices {
            let inner = paths.filter { $0 != paths[index] && $0.hasPrefix(paths[index] + "/") }
            targets[index].files.removeAll { file in inner.contains { file.path.hasPrefix($0 + "/") } }
        }
    }

    private static func files(in package: URL, below path: String) throws -> [File] {
        let folder = package.appending(path: path)
        let found = FileManager.default.enumerator(atPath: folder.path)
        return try (found?.compactMap { $0 as? String } ?? []).sorted().compactMap { name in
            guard ["swift", "sql", "c", "h"].contains((name as NSString).pathExtension) else { return nil }
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            return File(path: "\(path)/\(name)", text: text)
        }
    }

    private struct Manifest: Decodable {
        var targets: [Target]
        var products: [Product]?

        struct Product: Decodable {
            var targets: [String]
        }

        struct Target: Decodable {
            var name: String
            var path: String?
            var dependencies: [Dependency]
        }

        /// `{"byName": ["Bus", null]}`, `{"target": ["Bus", null]}` or `{"product": ["Logging", "swift-log", null, {"traits": …}]}`.
        struct Dependency: Decodable {
            var name: String?
            /// The other package that has it.
            var package: String?
            /// Whether the package needs it only with some trait.
            var hasTrait = false

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                for key in [CodingKeys.byName, .target] where container.contains(key) {
                    var values = try container.nestedUnkeyedContainer(forKey: key)
                    name = try values.decode(String.self)
                }
                if container.contains(.product) {
                    var values = try container.nestedUnkeyedContainer(forKey: .product)
                    _ = try values.decode(String.self)
                    package = try values.decode(String?.self)
                    _ = try values.decodeIfPresent([String: String].self)
                    hasTrait = try values.decodeIfPresent(Condition.self)?.traits?.isEmpty == false
                }
            }

            struct Condition: Decodable {
                var traits: [String]?
            }

            enum CodingKeys: String, CodingKey {
                case byName, target, product
            }
        }
    }
}
