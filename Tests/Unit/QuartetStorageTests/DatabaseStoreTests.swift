import Foundation
import QuartetVocabulary
import Testing

@testable import QuartetClient
@testable import QuartetStorage

@Suite
struct DatabaseStoreTests {
    private static let account = AccountID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0001)

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private static func item(_ id: Int64) -> OutboxItem {
        OutboxItem(
            id: id, stream: "contacts", command: "SendPing", acted: Instant(microseconds: 5), lifetime: .hours(1),
            actedAtServer: Instant(microseconds: 7), edit: Data(#"{"a":"secret-\#(id)"}"#.utf8))
    }

    private static let copy = LocalCopy(
        sequence: "contacts", place: "contacts.log@7-1/3/10", state: Data("secret-copy".utf8),
        asOf: Instant(microseconds: 9))

    @Test("what was saved is there when the file is opened again, in its order (S22)")
    func reopening() async throws {
        try await Self.withFolder { folder in
            let file = folder.appending(path: "store")
            var sent = Self.item(2)
            _ = sent.key.minted(at: Instant(microseconds: 1_800_000_000_000_000))
            sent.body = Data("{}".utf8)
            do {
                let store = try DatabaseStore(file)
                for id in [3, 1, 4, 2] as [Int64] { try await store.save(Self.item(id), of: Self.account) }
                try await store.save(sent, of: Self.account)
                try await store.remove(3, of: Self.account)
                try await store.save([Self.copy], finishing: [4], of: Self.account)
            }
            let kept = try await DatabaseStore(file).load(Self.account)
            #expect(kept.items.map(\.id) == [1, 2] && kept.items.last == sent && kept.copies == [Self.copy])
            let other = AccountID(high: 1, low: 2)
            #expect(try await DatabaseStore(file).load(other) == LocalAccount())
        }
    }

    @Test("a change that takes others' places comes and they go (S22)")
    func replacing() async throws {
        try await Self.withFolder { folder in
            let file = folder.appending(path: "store")
            do {
                let store = try DatabaseStore(file)
                for id in 1...3 { try await store.save(Self.item(Int64(id)), of: Self.account) }
                try await store.save(Self.item(4), replacing: [1, 3], of: Self.account)
            }
            #expect(try await DatabaseStore(file).load(Self.account).items.map(\.id) == [2, 4])
        }
    }

    @Test("an account that is forgotten leaves no byte in any file, and the files are the user's alone (S17, R21)")
    func forgetting() async throws {
        try await Self.withFolder { folder in
            let store = try DatabaseStore(folder.appending(path: "store"))
            for id in 1...50 { try await store.save(Self.item(Int64(id)), of: Self.account) }
            try await store.save([Self.copy], finishing: [4], of: Self.account)
            func files() throws -> [URL] {
                try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            }
            func contain(_ text: String) throws -> Bool {
                try files().contains { try Data(contentsOf: $0).range(of: Data(text.utf8)) != nil }
            }
            #expect(try contain("secret-copy") && files().count > 1)
            for file in try files() {
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode.map { $0 & 0o077 } == 0, "\(file.lastPathComponent)")
            }
            // What a crash or a restored backup left.
            let other = AccountID(high: 1, low: 2)
            try await store.save([Self.copy], finishing: [], of: other)
            try await store.forgetOthers(than: Self.account)
            #expect(try await store.load(other) == LocalAccount())
            #expect(try await store.load(Self.account).items.count == 49)
            try await store.forget(Self.account)
            for text in ["secret", Data("secret-7".utf8).base64EncodedString(), "\(Self.account)"] {
                #expect(try !contain(text), "\(text)")
            }
        }
    }
}
