import Foundation
import TestKit

/// The executables of a released version, which `Tests/System/Schema/build-release.sh` builds once and keeps.
struct ReleasedBuild: Sendable {
    /// The released versions whose commits are named.
    static let versions =
        (try? FileManager.default.contentsOfDirectory(atPath: releases.path))?
        .filter { $0.hasSuffix(".commit") }.map { String($0.dropLast(7)) }.sorted() ?? []

    private static let releases = Products.package.appending(path: "Tests/System/Schema/Releases")

    let version: String
    private let folder: URL

    init(_ version: String) throws {
        self.version = version
        let environment = ProcessInfo.processInfo.environment
        let cache = environment["XDG_CACHE_HOME"] ?? "\(environment["HOME"] ?? "")/.cache"
        folder = URL(filePath: cache).appending(path: "quartet/releases/\(version)")
        let commit = try String(contentsOf: Self.releases.appending(path: "\(version).commit"), encoding: .utf8)
        let stamp = try? String(contentsOf: folder.appending(path: "stamp"), encoding: .utf8)
        guard let stamp, stamp.hasPrefix(commit.trimmingCharacters(in: .newlines)) else {
            throw Unexpected(
                "the executables of \(version) aren't there; Tests/System/Schema/build-release.sh \(version)")
        }
    }

    /// The path of an executable.
    func executable(_ name: String) -> String { folder.appending(path: name).path }

    /// A database as its `migrate` makes it.
    var template: DatabaseTemplate {
        DatabaseTemplate(
            "quartet_\(version.replacing(".", with: "_"))", services: DatabaseTemplate.productServices
        ) { database in
            try await Quartet.migrate(try database.url, environment: ["TOLD_AT_ONCE": "0"], from: self)
        }
    }
}
