import EdgeClient
import Foundation
import Synchronization
import TestKit
import Testing

import struct EdgeClient.Device

/// An app that is killed while it has changes that weren't sent.
@Suite
struct OfflineTests {
    /// How far the app counts.
    private static let count = 200
    /// How many changes the app makes at most before it is killed. It does so in a second, while a test on a busy machine may need
    /// many to see them.
    private static let most = 20

    @Test(
        """
        an app that is killed again and again, with and without network, loses no change and makes none twice: each is made in its \
        order, and what it kept shows at every start (S20, S22, S42)
        """)
    func kills() async throws {
        try await withRandom { random in
            let kills = (0..<8).map { _ in Int.random(in: 1...9, using: &random) }
            let folder = FileManager.default.temporaryDirectory.appending(path: "offline-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await Quartet.with { quartet in
                let url = try quartet.url
                let port = try #require(URL(string: url)?.port.flatMap { UInt16(exactly: $0) })
                let accepted = Mutex<Set<Int>>([])
                func note(_ app: ChildProcess) {
                    let numbers = app.lines(on: .output).filter { $0.hasPrefix("accepted ") }
                        .compactMap { Int($0.dropFirst("accepted ".count)) }
                    accepted.withLock { $0.formUnion(numbers) }
                }
                func killed(after changes: Int) async throws {
                    try await ChildProcess.with("offline-app", ["some", url, folder.path, "anna", "\(Self.most)"]) {
                        app in
                        var last: ChildProcess.Line?
                        for _ in 0..<changes { last = try await app.waitForLine(containing: "did ", after: last) }
                        if changes == Self.most { try await app.waitForLine(containing: "resting", after: last) }
                        app.send(.kill)
                        try await app.waitForExit(.killed(.kill))
                        note(app)
                    }
                }
                for changes in kills[..<3] { try await killed(after: changes) }
                try await quartet.kill(.sessionClient)
                // The first of these is killed as late as can be.
                for changes in [Self.most] + kills[3..<6] { try await killed(after: changes) }
                try await quartet.start(.sessionClient, port: port)
                for changes in kills[6...] { try await killed(after: changes) }
                try await ChildProcess.with("offline-app", ["count", url, folder.path, "anna", "\(Self.count)"]) {
                    app in
                    var last: ChildProcess.Line?
                    while last?.text.contains("finished") != true {
                        last = try await app.waitForLine("a change or the end", after: last) {
                            $0.contains("did ") || $0.contains("finished")
                        }
                    }
                    try await app.waitForExit(.exited(0))
                    note(app)
                }
                let anna = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                let account = try await anna.read("/v1/account")
                try #require(account["emergencyNote"] == .string("\(Self.count)"))
                // What waited together was sent as one change: each was made once, after those before it, and none that was said to
                // be accepted is missing.
                let made = try await quartet.psql(
                    """
                    SELECT string_agg(body ->> 'emergencyNote', ' ' ORDER BY position) FROM session.log
                    WHERE type = 'ProfileUpdated'
                    """
                ).split(separator: " ").compactMap { Int($0) }
                try #require(zip(made, made.dropFirst()).allSatisfy { $0 < $1 }, "\(made)")
                try #require(accepted.withLock { $0.subtracting(made) }.isEmpty, "\(made)")
                let commands = try await quartet.psql(
                    "SELECT count(DISTINCT command_id) FROM session.log WHERE type = 'ProfileUpdated'")
                try #require(commands == "\(made.count)")
                // Signing up made the first version.
                try #require(account["profileVersion"] == .int(Int64(made.count) + 1))
            }
        }
    }

    @Test(
        """
        two processes of an app on one store that make changes side by side, one of which is killed again and again, with and without \
        network: what it left the other sends, and no change is lost, made twice or out of its order (S20, S22, R11)
        """)
    func twoProcesses() async throws {
        try await withRandom { random in
            let kills = (0..<4).map { _ in Int.random(in: 1...9, using: &random) }
            let folder = FileManager.default.temporaryDirectory.appending(path: "offline-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await Quartet.with { quartet in
                let url = try quartet.url
                let port = try #require(URL(string: url)?.port.flatMap { UInt16(exactly: $0) })
                func numbers(_ app: ChildProcess, _ what: String) -> [Int] {
                    app.lines(on: .output).filter { $0.hasPrefix(what) }.compactMap { Int($0.dropFirst(what.count)) }
                }
                let accepted = Mutex<Set<Int>>([])
                /// - Returns: How far it had counted.
                func killed(after changes: Int) async throws -> Int {
                    try await ChildProcess.with("offline-app", ["some", url, folder.path, "anna", "\(Self.most)"]) {
                        app in
                        var last: ChildProcess.Line?
                        for _ in 0..<changes { last = try await app.waitForLine(containing: "did ", after: last) }
                        app.send(.kill)
                        try await app.waitForExit(.killed(.kill))
                        accepted.withLock { $0.formUnion(numbers(app, "accepted ")) }
                        return numbers(app, "did ").max() ?? 0
                    }
                }
                // It signs up.
                _ = try await killed(after: 1)
                try await ChildProcess.with("offline-app", ["names", url, folder.path, "anna", "0"]) { other in
                    /// While one is killed, the other goes on.
                    func killedBeside(after changes: Int) async throws -> Int {
                        let last = try await killed(after: changes)
                        try await other.waitForLine(containing: "did ", after: other.lastLine)
                        return last
                    }
                    try await other.waitForLine(containing: "did ")
                    for changes in kills[..<2] { _ = try await killedBeside(after: changes) }
                    try await quartet.kill(.sessionClient)
                    var left = 0
                    for changes in kills[2...] { left = try await killedBeside(after: changes) }
                    try await quartet.start(.sessionClient, port: port)
                    try await other.waitForLine(containing: "did ", after: other.lastLine)
                    other.send(Signal(rawValue: SIGUSR1))
                    try await other.waitForLine(containing: "resting")
                    let most = numbers(other, "did ").max()
                    // A name has letters for digits: it can't have any. Nobody else is there to send what the killed one left.
                    let number = "translate(split_part(body ->> 'name', ' ', 2), 'abcdefghij', '0123456789')"
                    _ = try await quartet.wait(
                        for: "what both processes did",
                        """
                        SELECT max(nullif(body ->> 'emergencyNote', '')::int) || ' ' || max(nullif(\(number), '')::int)
                          FROM session.log WHERE type = 'ProfileUpdated'
                        """
                    ) { found in
                        let found = found.split(separator: " ").compactMap { Int($0) }
                        return found.count == 2 && found[0] >= left && found[1] == most
                    }
                    try await quartet.waitUntilQuiet()
                    let made = try await quartet.psql(
                        """
                        SELECT string_agg((body ->> 'emergencyNote') || ' ' || \(number), ',' ORDER BY position)
                          FROM session.log WHERE type = 'ProfileUpdated'
                        """
                    ).split(separator: ",").map { event in
                        event.split(separator: " ", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
                    }
                    // Each change makes one of them more and neither less.
                    for (one, next) in zip(made, made.dropFirst()) {
                        try #require(one[0] <= next[0] && one[1] <= next[1] && one != next, "\(made)")
                    }
                    try #require(accepted.withLock { $0.subtracting(made.map { $0[0] }) }.isEmpty, "\(made)")
                    try #require(Set(numbers(other, "accepted ")).subtracting(made.map { $0[1] }).isEmpty, "\(made)")
                    let anna = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                    let version = try await anna.read("/v1/account")["profileVersion"]
                    try #require(version == .int(Int64(made.count) + 1))
                    // Sent again under another key, a change that was made is accepted and finds nothing to change.
                    let needless = try await quartet.psql(
                        """
                        SELECT count(*) FROM session.log WHERE type = 'Accepted' AND command_id IN
                         (SELECT command_id FROM session_client.session_commands WHERE type = 'UpdateProfile')
                        """)
                    try #require(needless == "0")
                }
            }
        }
    }
}
