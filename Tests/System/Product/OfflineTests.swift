import EdgeClient
import Foundation
import TestKit
import Testing

import struct EdgeClient.Device

/// An app that is killed while it has changes that weren't sent.
@Suite
struct OfflineTests {
    /// How far the app counts.
    private static let count = 200

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
                func run(killAfter changes: Int?) async throws {
                    try await ChildProcess.with("offline-app", ["count", url, folder.path, "anna", "\(Self.count)"]) {
                        app in
                        guard let changes else {
                            try await app.waitForLine(containing: "finished")
                            return try await app.waitForExit(.exited(0))
                        }
                        var last: ChildProcess.Line?
                        for _ in 0..<changes { last = try await app.waitForLine(containing: "did ", after: last) }
                        app.send(.kill)
                        try await app.waitForExit(.killed(.kill))
                    }
                }
                for changes in kills[..<3] { try await run(killAfter: changes) }
                try await quartet.kill(.sessionClient)
                for changes in kills[3..<6] { try await run(killAfter: changes) }
                try await quartet.start(.sessionClient, port: port)
                for changes in kills[6...] { try await run(killAfter: changes) }
                try await run(killAfter: nil)
                let anna = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                let account = try await anna.read("/v1/account")
                // Signing up made the first version.
                try #require(account["emergencyNote"] == .string("\(Self.count)"))
                try #require(account["profileVersion"] == .int(Int64(Self.count) + 1))
            }
        }
    }
}
