public enum ImageType: String, Codable, Hashable, Sendable, CaseIterable {
    /// Portable Network Graphics (ISO/IEC 15948).
    case png = "image/png"
    /// JPEG (ITU-T T.81).
    case jpeg = "image/jpeg"

    /// Recognises the first bytes. Nil for any other type.
    public init?(signature bytes: [UInt8]) {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else {
            return nil
        }
    }
}

/// What a picture's first bytes say. A file name or media type can be wrong; the bytes can't.
public struct ImageHeader: Hashable, Sendable {
    public let type: ImageType
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int

    /// In bytes.
    public static let sizes = 1...(2 << 20)
    /// Pixels on each side. A larger picture could exhaust the memory of an app that decodes it.
    public static let edges = 1...4096
    /// The most pixels in all.
    public static let pixels = 16_000_000
    /// Whether it keeps to both limits.
    public var isSmallEnough: Bool { Self.isSmallEnough(width: width, height: height) }

    static func isSmallEnough(width: Int, height: Int) -> Bool {
        edges.contains(width) && edges.contains(height) && width * height <= pixels
    }

    /// Nil unless the bytes begin a PNG or JPEG that states its size.
    public init?(_ bytes: [UInt8]) {
        switch ImageType(signature: bytes) {
        case .png:
            // IHDR comes first: length, type, width, height.
            guard bytes.count >= 33, Array(bytes[12..<16]) == Array("IHDR".utf8) else { return nil }
            self.init(.png, width: Self.number(bytes[16..<20]), height: Self.number(bytes[20..<24]))
        case .jpeg:
            guard let frame = Self.frame(in: bytes) else { return nil }
            self.init(
                .jpeg, width: Self.number(bytes[(frame + 5)..<(frame + 7)]),
                height: Self.number(bytes[(frame + 3)..<(frame + 5)]))
        case nil: return nil
        }
    }

    private init?(_ type: ImageType, width: Int, height: Int) {
        guard width > 0, height > 0 else { return nil }
        self.type = type
        self.width = width
        self.height = height
    }

    /// Finds a JPEG's frame header behind its marker, segment by segment (ITU-T T.81, B.2.2).
    private static func frame(in bytes: [UInt8]) -> Int? {
        var index = 2
        while index + 9 < bytes.count {
            guard bytes[index] == 0xFF else { return nil }
            let marker = bytes[index + 1]
            switch marker {
            case 0xFF: index += 1
            // SOF0 to SOF15, except DHT, JPG and DAC.
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: return index + 2
            case 0x01, 0xD0...0xD9: index += 2
            default:
                let length = number(bytes[(index + 2)..<(index + 4)])
                guard length >= 2 else { return nil }
                index += 2 + length
            }
        }
        return nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
