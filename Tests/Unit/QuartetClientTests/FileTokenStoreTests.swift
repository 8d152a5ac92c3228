import Crypto
import Foundation
import Testing

@testable import QuartetClient

@Suite
struct FileTokenStoreTests {
    private static func withFile(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "tokens"))
    }

    private static let credentials = Credentials(
        account: Server.account, device: Server.device, refreshToken: "a refresh token")

    @Test("tokens are in a file that nobody else can read, and are replaced as a whole (S42, R21)")
    func mode() throws {
        try Self.withFile { file in
            let store = FileTokenStore(file)
            #expect(try store.load() == nil && !store.isSealed)
            // What a crash left behind.
            try Data("half".utf8).write(to: file.deletingLastPathComponent().appending(path: ".tokens.new"))
            try store.save(Self.credentials)
            #expect(try FileTokenStore(file).load() == Self.credentials)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o777 } == 0o600)
            let folder = file.deletingLastPathComponent()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tokens"])
            try store.save(nil)
            try store.save(nil)
            #expect(try store.load() == nil)
        }
    }

    @Test("with a key, the file says nothing, and another key opens nothing (R21)")
    func sealing() throws {
        try Self.withFile { file in
            let key = SymmetricKey(size: .bits256)
            let store = FileTokenStore(file, key: key)
            try store.save(Self.credentials)
            #expect(store.isSealed)
            #expect(try FileTokenStore(file, key: key).load() == Self.credentials)
            let content = try Data(contentsOf: file)
            #expect(content.range(of: Data("refresh".utf8)) == nil)
            for wrong in [SymmetricKey(size: .bits256), nil] {
                #expect(throws: (any Error).self) { try FileTokenStore(file, key: wrong).load() }
            }
        }
    }
}
