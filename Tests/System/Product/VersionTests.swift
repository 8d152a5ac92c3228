import Foundation
import TestKit
import Testing

@Suite("Versions")
struct VersionTests {
    @Test(
        "every executable prints the version that CHANGELOG.md begins with",
        arguments: [
            ["session"], ["contacts"], ["notifications"], ["session-client"], ["session-client", "keys", "list"],
            ["quartet-tui"], ["quartet-conformance"],
        ])
    func version(of command: [String]) async throws {
        let changelog = try String(contentsOf: Products.package.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") }).dropFirst(3)
        let executable = try #require(command.first)
        try await ChildProcess.with(executable, Array(command.dropFirst()) + ["--version"]) { child in
            try await child.waitForExit(.exited(0))
            #expect(child.lines(on: .output) == ["\(executable) \(newest)"])
        }
    }
}
