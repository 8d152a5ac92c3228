import Crypto
public import Vocabulary

/// An account's picture.
public enum AvatarCommand: MessageSet {
    case setAvatar(SetAvatar)
    case removeAvatar(RemoveAvatar)

    public static let cases: Cases<Self> = [Case(Self.setAvatar), Case(Self.removeAvatar)]

    public var body: any CommandBody {
        switch self {
        case .setAvatar(let body): body
        case .removeAvatar(let body): body
        }
    }
}

/// The SHA-256 of some bytes, which are stored under it. In JSON, 64 lowercase hexadecimal digits.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    public let bytes: [UInt8]

    public init(of content: some Sequence<UInt8>) {
        bytes = Array(SHA256.hash(data: Array(content)))
    }

    /// Nil unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads the hexadecimal form. Nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.count == 64 else { return nil }
        var digits: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The hexadecimal form.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ContentHash: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let hash = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "must be 64 lowercase hexadecimal digits")
        }
        self = hash
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A profile picture without its bytes.
public struct Avatar: Codable, Hashable, Sendable {
    /// The hash of its bytes.
    public var hash: ContentHash
    public var type: ImageType
    /// In bytes; see ``ImageHeader/sizes``.
    public var size: Int
    /// In pixels.
    public var width: Int
    /// In pixels.
    public var height: Int

    public init(hash: ContentHash, type: ImageType, size: Int, width: Int, height: Int) {
        self.hash = hash
        self.type = type
        self.size = size
        self.width = width
        self.height = height
    }

    /// - Throws: `invalidField` if it is too large.
    func check() throws(Rejection) {
        guard ImageHeader.sizes.contains(size) else {
            throw Rejection(.invalidField, "Send a picture of at most 2 MB.", field: "avatar.size")
        }
        guard ImageHeader.isSmallEnough(width: width, height: height) else {
            throw Rejection(
                .invalidField,
                "Send a picture of 1 to \(ImageHeader.edges.upperBound) pixels a side and at most 16 megapixels.",
                field: "avatar.width")
        }
    }
}

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

/// Sets the account's picture. Its bytes must have been uploaded under their hash.
///
/// Rejected: `notFound` if they weren't, or too long ago; `invalidField` if they aren't what the command says. Result:
/// ``AvatarSet``; nothing if nothing changes.
public struct SetAvatar: CommandBody {
    public let avatar: Avatar

    public init(avatar: Avatar) {
        self.avatar = avatar
    }

    public func validate() throws(Rejection) {
        try avatar.check()
    }
}

/// Removes the account's picture. Without one it changes nothing.
///
/// Result: ``AvatarRemoved``.
public struct RemoveAvatar: CommandBody {
    public init() {}
}

/// The account has a new picture.
public struct AvatarSet: EventBody {
    public let account: AccountID
    public let avatar: Avatar
    public let at: Instant

    public init(account: AccountID, avatar: Avatar, at: Instant) {
        self.account = account
        self.avatar = avatar
        self.at = at
    }
}

/// The account no longer has a picture.
public struct AvatarRemoved: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}
