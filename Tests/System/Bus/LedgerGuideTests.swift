import Foundation
import TestKit
import Testing

@Suite("The guide to writing a service")
struct LedgerGuideTests {
    private static let ledger = Products.package.appending(path: "Tests/Kit/Ledger")

    /// A fenced block of the guide.
    private struct Block {
        let language: String
        var lines: [String] = []
        var text: String { lines.joined(separator: "\n") }
    }

    private static func blocks() throws -> [Block] {
        let guide = try String(contentsOf: ledger.appending(path: "README.md"), encoding: .utf8)
        var (blocks, open): ([Block], Block?) = ([], nil)
        for line in guide.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if let block = open { blocks.append(block) }
                open = open == nil ? Block(language: String(line.dropFirst(3))) : nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }

    /// A command of the guide, and what it says that the command prints.
    private struct Step {
        let command: String
        var output: [String] = []
    }

    @Test("every command in it prints what it says, from an empty database to a killed service that lost nothing")
    func commands() async throws {
        var steps: [Step] = []
        for line in try Self.blocks().filter({ $0.language == "console" }).flatMap(\.lines) {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else {
                try #require(!steps.isEmpty)
                steps[steps.count - 1].output.append(line)
            }
        }
        #expect(steps.count > 10)
        let said = try await PrivateCluster.with { try await Self.run(steps.map(\.command), on: $0.cluster()) }
        for (step, said) in zip(steps, said) { #expect(said == step.output, "$ \(step.command)") }
    }

    /// Runs commands one after the other in one shell, in a folder that has `deploy`, and returns what each printed.
    private static func run(_ commands: [String], on cluster: TestCluster) async throws -> [[String]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ledger-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "deploy"), withDestinationURL: Products.deploy(""))
        let mark = "--- next ---"
        let script = "set -e\ncd '\(folder.path)'\n" + commands.map { "echo '\(mark)'\n\($0)\n" }.joined()
        let path = "\(Products.folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try await ChildProcess.with(
            "/bin/sh", ["-c", script], environment: ["DATABASE_URL": cluster.superuserURL, "PATH": path], name: "guide"
        ) { shell in
            try await shell.waitForExit(.exited(0))
            // Aligned output has spaces at the ends of lines and a blank line at its end.
            return shell.lines(on: .output).map { String($0.reversed().drop { $0 == " " }.reversed()) }
                .split(separator: mark, omittingEmptySubsequences: false).dropFirst()
                .map { $0.last == "" ? $0.dropLast() : Array($0) }
        }
    }

    @Test("the code that it quotes stands like that in the ledger's files")
    func quotes() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.ledger.path)
        for language in ["swift", "sql"] {
            let files = try names.filter { $0.hasSuffix(".\(language)") }.map {
                try String(contentsOf: Self.ledger.appending(path: $0), encoding: .utf8)
            }
            for quote in try Self.blocks() where quote.language == language {
                #expect(files.contains { $0.contains(quote.text) }, "\(quote.text)")
            }
        }
    }
}
