import QuartetSessionContract
import Testing

@testable import SessionClientService

/// The parts that are removed from pictures.
@Suite("Session-client: pictures without metadata")
struct PictureMetadataTests {
    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    /// A little-endian Exif segment with an orientation and a position.
    private static func exif(orientation: UInt8) -> [UInt8] {
        segment(
            0xE1,
            Array("Exif\0\0II".utf8) + [0x2A, 0, 8, 0, 0, 0, 1, 0]
                + [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0] + [0, 0, 0, 0] + Array("GPS 52.52".utf8))
    }

    private static let jfif = segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    private static let profile = segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1, 9, 9])
    private static let tables = segment(0xDB, Array(repeating: 7, count: 65))
    private static let frame = segment(0xC0, [8, 0, 2, 0, 3, 1, 1, 0x11, 0])
    /// Two scans; the data have a stuffed 0xFF and a restart.
    private static let scans =
        segment(0xDA, [1, 1, 0, 0, 63, 0]) + [1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4]
        + segment(0xDA, [1, 1, 0, 0, 63, 1]) + [5, 6]

    private static func jpeg(_ parts: [UInt8]...) -> [UInt8] { [0xFF, 0xD8] + parts.flatMap { $0 } + [0xFF, 0xD9] }

    @Test("a JPEG keeps its pixels and colours, and loses Exif, XMP, IPTC, comments and what stands behind its end")
    func jpegParts() {
        let told =
            Self.jpeg(
                Self.jfif, Self.exif(orientation: 1), Self.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8)),
                Self.profile, Self.segment(0xE2, Array("MPF\0".utf8)), Self.segment(0xED, Array("Photoshop".utf8)),
                Self.segment(0xFE, Array("at home".utf8)), Self.tables, Self.frame, Self.scans) + Array("GPS".utf8)
        let kept = PictureMetadata.removed(from: told, type: .jpeg)
        #expect(kept == Self.jpeg(Self.jfif, Self.profile, Self.tables, Self.frame, Self.scans))
        let header = ImageHeader(kept ?? [])
        #expect(header?.width == 3 && header?.height == 2)
        #expect(PictureMetadata.removed(from: kept ?? [], type: .jpeg) == kept, "nothing more to remove")
    }

    @Test("a JPEG that lies on its side stays so, without the rest of its Exif", arguments: [UInt8(2), 6, 8])
    func orientation(_ orientation: UInt8) throws {
        let told = Self.jpeg(Self.exif(orientation: orientation), Self.tables, Self.frame, Self.scans)
        let kept = try #require(PictureMetadata.removed(from: told, type: .jpeg))
        #expect(kept.count < told.count)
        #expect(!String(decoding: kept, as: UTF8.self).contains("GPS"))
        #expect(kept[6..<12] == Array("Exif\0\0".utf8)[...] && kept.contains(orientation))
        #expect(PictureMetadata.removed(from: kept, type: .jpeg) == kept, "what it says is read again the same way")
    }

    @Test("a file that is cut short or lies about its lengths isn't a picture")
    func cut() throws {
        let whole = Self.jpeg(Self.jfif, Self.exif(orientation: 6), Self.tables, Self.frame, Self.scans)
        for count in 2..<whole.count {
            _ = PictureMetadata.removed(from: Array(whole.prefix(count)), type: .jpeg)
            _ = PictureMetadata.removed(from: Array(whole.prefix(count)), type: .png)
        }
        #expect(PictureMetadata.removed(from: [0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFF, 0], type: .jpeg) == nil)
        let png: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF, 0xFF, 0xFF, 0xFF] + Array("IHDR".utf8)
        #expect(PictureMetadata.removed(from: png + [0, 0, 0, 0], type: .png) == nil)
    }

    @Test("any bytes are read without a trap")
    func fuzz() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var bytes = Self.jpeg(Self.jfif, Self.exif(orientation: 6), Self.tables, Self.frame, Self.scans)
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 2..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = PictureMetadata.removed(from: bytes, type: .jpeg)
            _ = PictureMetadata.removed(from: bytes, type: .png)
            _ = ImageHeader(bytes)
        }
    }
}
