import Foundation
import Glibc
import TestKit
import Testing

@Suite("Child processes")
struct ChildProcessTests {
    @Test("its lines can be awaited, past and future ones")
    func lines() async throws {
        try await ChildProcess.with("/bin/sh", ["-c", "echo one; echo two >&2; read never; echo three"]) { child in
            let one = try await child.waitForLine(containing: "one", on: .output)
            #expect(one.text == "one")
            try await child.waitForLine(containing: "two", on: .error)
            // Its standard input is empty, so it goes on by itself.
            try await child.waitForLine(containing: "three", after: one)
            try await child.waitForExit(.exited(0))
        }
    }

    @Test("waiting for a line that an ended process never wrote fails at once, with its log")
    func waitingInVain() async throws {
        try await ChildProcess.with("/bin/sh", ["-c", "echo only this; exit 3"]) { child in
            let error = await #expect(throws: ChildProcess.Ended.self) {
                try await child.waitForLine(containing: "that", within: .seconds(60))
            }
            #expect(error?.description.contains("only this") == true)
            #expect(error?.description.contains("exited(3)") == true)
        }
    }

    @Test("signals kill, pause and resume it")
    func signals() async throws {
        try await ChildProcess.with("/bin/sh", ["-c", "echo ready; while :; do sleep 0.01; echo tick; done"]) { child in
            try await child.waitForLine(containing: "tick")
            child.send(.stop)
            #expect(try isStopped(child.processID))
            let last = child.lastLine
            child.send(.resume)
            try await child.waitForLine(containing: "tick", after: last)
            child.send(.kill)
            try await child.waitForExit(.killed(.kill))
        }
    }

    @Test("everything it started ends with it, even what left its process group")
    func descendants() async throws {
        let command = "sleep 1000 & echo $!; setsid sleep 1000 & echo $!; (setsid sleep 1000 & echo $!); echo end; wait"
        let descendants = try await ChildProcess.with("/bin/sh", ["-c", command]) { child in
            try await child.waitForLine(containing: "end")
            return child.lines().compactMap { pid_t($0) }
        }
        #expect(descendants.count == 3)
        for descendant in descendants {
            #expect(!isAlive(descendant))
        }
    }

    @Test("a missing program is an error that says so")
    func missing() async throws {
        let error = await #expect(throws: SpawnFailed.self) { try await ChildProcess.start("/nowhere/nothing") }
        #expect(error?.description == "could not start nothing: No such file or directory")
    }

    @Test("nothing outlives tests that are killed with -9")
    func killedTests() async throws {
        // Here `sleep` holds the lifeline, and so stands for the tests.
        let supervisor = try Products.executable("test-supervisor").path
        let command = """
            (echo tests $BASHPID >&2; exec sleep 1000) |
                "\(supervisor)" sh -c 'echo child $$; sleep 1000 & echo grandchild $!; wait' 3>/dev/null
            """
        try await ChildProcess.with("/bin/bash", ["-c", command]) { shell in
            var processes: [pid_t] = []
            for name in ["tests ", "child ", "grandchild "] {
                let line = try await shell.waitForLine("a line beginning with '\(name)'") { $0.hasPrefix(name) }
                processes.append(try #require(pid_t(line.text.dropFirst(name.count))))
            }
            #expect(processes.allSatisfy(isAlive))
            kill(processes[0], SIGKILL)
            try await shell.waitForExit()
            #expect(!processes.contains(where: isAlive))
        }
    }

    private func isAlive(_ process: pid_t) -> Bool {
        guard let state = try? state(of: process) else { return false }
        return state != "Z"
    }

    private func isStopped(_ process: pid_t) throws -> Bool {
        // SIGSTOP is on its way when kill returns; the state follows when the process is next scheduled.
        for _ in 0..<1000 where try state(of: process) != "T" { sched_yield() }
        return try state(of: process) == "T"
    }

    private func state(of process: pid_t) throws -> String {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return String(text[text.index(text.lastIndex(of: ")") ?? text.startIndex, offsetBy: 2)...].prefix(1))
    }
}
