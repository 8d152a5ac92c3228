import Foundation
import TestKit

/// The Swift compiler, and the modules that were built together with these tests.
enum Compiler {
    /// What the compiler says about these texts, each a file: its errors by the text's index.
    /// - Parameter modules: A folder with modules that come before those that were built.
    static func errors(in texts: [String], with modules: URL? = nil) async throws -> [[String]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "compiler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        for (index, text) in texts.enumerated() {
            let file = folder.appending(path: "text\(index).swift")
            try text.write(to: file, atomically: true, encoding: .utf8)
            files.append(file.path)
        }
        let lines = try await compile(
            ["-typecheck"] + (modules.map { ["-I", $0.path] } ?? []) + files)
        return texts.indices.map { index in
            lines.filter { $0.contains("text\(index).swift:") && $0.contains("error:") }
        }
    }

    /// Makes a module of files, in a folder that has more modules.
    /// - Returns: What the compiler says.
    static func makeModule(_ name: String, of files: [URL], in folder: URL) async throws -> [String] {
        try await compile(
            [
                "-emit-module", "-parse-as-library", "-module-name", name, "-emit-module-path",
                folder.appending(path: "\(name).swiftmodule").path, "-I", folder.path,
                // As in the manifest.
                "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "InternalImportsByDefault",
                "-enable-upcoming-feature", "MemberImportVisibility", "-enable-upcoming-feature",
                "NonisolatedNonsendingByDefault",
            ] + files.map(\.path)
        ).filter { $0.contains("error:") }
    }

    private static func compile(_ options: [String]) async throws -> [String] {
        let modules = Products.folder.appending(path: "Modules").path
        let checkouts = Products.package.appending(path: ".build/checkouts")
        // In one go, or the first file with an error ends it; and one line an error.
        var arguments = [
            "swiftc", "-wmo", "-diagnostic-style", "llvm", "-swift-version", "6",
        ]
        // The C modules that Swift Crypto and GRDB are made of.
        let crypto = ["CCryptoBoringSSL", "CCryptoBoringSSLShims", "CXKCP", "CXKCPShims"].map {
            "swift-crypto/Sources/\($0)/include/module.modulemap"
        }
        for map in crypto + ["GRDB.swift/Sources/GRDBSQLite/module.modulemap"] {
            let path = checkouts.appending(path: map).path
            if FileManager.default.fileExists(atPath: path) { arguments += ["-Xcc", "-fmodule-map-file=\(path)"] }
        }
        // Where the macros of Swift Testing are.
        let which = try await ChildProcess.start("/usr/bin/env", ["sh", "-c", "readlink -f \"$(command -v swiftc)\""])
        _ = try await which.waitForExit()
        if let compiler = which.lines().first {
            let plugins = URL(filePath: compiler).deletingLastPathComponent()
                .appending(path: "../lib/swift/host/plugins/testing").standardized.path
            arguments += ["-plugin-path", plugins]
        }
        await which.end()
        let compiler = try await ChildProcess.start(
            "/usr/bin/env", arguments + options + ["-I", modules], name: "swiftc")
        _ = try await compiler.waitForExit()
        let lines = compiler.lines()
        await compiler.end()
        return lines
    }
}
