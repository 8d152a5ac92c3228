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
}
