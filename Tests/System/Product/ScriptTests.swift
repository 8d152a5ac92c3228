import Foundation
import TestKit
import Testing

@Suite("Scripts")
struct ScriptTests {
    @Test("make status says what to do where nothing was started")
    func nothingStarted() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID())")
        let deploy = folder.appending(path: "deploy")
        try FileManager.default.createDirectory(at: deploy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for script in ["run.sh", "postgres.sh"] {
            try FileManager.default.copyItem(at: Products.deploy(script), to: deploy.appending(path: script))
        }
        try await ChildProcess.with("/bin/sh", [deploy.appending(path: "run.sh").path, "status"]) { status in
            try await status.waitForExit(.exited(3))
            #expect(
                status.lines(on: .output) == [
                    "postgres           not running", "services           not running; start them: make run",
                ])
        }
    }
}
