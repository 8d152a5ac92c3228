import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: pictures")
struct PictureTests {
    private static func avatar(_ size: Int = 70, type: ImageType = .png) throws -> Avatar {
        Avatar(hash: ContentHash(of: Array("\(size)".utf8)), type: type, size: size, width: 1, height: 1)
    }

    @Test("a picture is what was uploaded under its hash, complete, and of the type its bytes say (R10)")
    func avatar() throws {
        var household = Household()
        let account = try household.person()
        let avatar = try Self.avatar()
        let set = SetAvatar(avatar: avatar)
        let stranger = try household.person("bob")
        household.rows.uploads[UploadKey(stranger, avatar.hash)] = Upload(size: 70, type: .png)
        #expect(try household.rejection(account, set) == .notFound, "another account's upload is nobody else's")
        for upload in [Upload(size: 71, type: .png), Upload(size: 70, type: .jpeg), Upload(size: 70, type: nil)] {
            household.rows.uploads[UploadKey(account, avatar.hash)] = upload
            #expect(try household.rejection(account, set) == .invalidField)
        }
        household.rows.uploads[UploadKey(account, avatar.hash)] = Upload(size: 70, type: .png)
        #expect(
            try household.ask(account, set) == [
                .avatarSet(.init(account: account, avatar: avatar, at: household.time))
            ])
        #expect(household.state(account).avatar == avatar)
        #expect(try household.ask(account, set).isEmpty)
        #expect(
            try household.ask(account, RemoveAvatar()) == [
                .avatarRemoved(.init(account: account, at: household.time))
            ])
        #expect(try household.ask(account, RemoveAvatar()).isEmpty)
        let large = try Self.avatar((2 << 20) + 1)
        #expect(try household.rejection(account, SetAvatar(avatar: large)) == .invalidField)
    }

    @Test("a picture's type comes from its bytes, whatever the request calls it (R10)")
    func headers() {
        let png: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 1, 0, 0, 0, 0, 2, 8, 6, 0, 0, 0, 0, 0, 0, 0]
        let header = ImageHeader(png)
        #expect(header?.type == .png && header?.width == 256 && header?.height == 2)
        // A JPEG with a comment before its frame.
        let jpeg: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 65, 66, 0xFF, 0xC0, 0, 17, 8, 0, 3, 0, 5, 3, 1, 0x22, 0, 2, 0x11, 1, 3]
        let frame = ImageHeader(jpeg)
        #expect(frame?.type == .jpeg && frame?.width == 5 && frame?.height == 3)
        for bytes: [UInt8] in [
            [], Array("GIF89a".utf8), Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array(png.prefix(20)),
            [0xFF, 0xD8, 0xFF], [0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0],
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            #expect(ImageHeader(bytes) == nil)
        }
    }

    @Test("any bytes give a header or nothing, and are never read past their end (R10)")
    func anyBytes() async throws {
        try await withRandom { random in
            for _ in 0..<20_000 {
                var bytes: [UInt8] =
                    random.oneIn(2) ? [0xFF, 0xD8, 0xFF] : [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
                for _ in 0..<Int.random(in: 0...60, using: &random) {
                    bytes.append(random.oneIn(3) ? 0xFF : UInt8.random(in: 0...255, using: &random))
                }
                if let header = ImageHeader(bytes) { try #require(header.width > 0 && header.height > 0) }
            }
        }
    }
}
