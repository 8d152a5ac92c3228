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

/// The SHA-256 of some bytes: their name wherever they are stored. 64 lower-case hexadecimal digits in JSON.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// The hash of some bytes.
    public init(of content: some Sequence<UInt8>) {
        bytes = Array(SHA256.hash(data: Array(content)))
    }

    /// Returns nil unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads the hexadecimal form. Returns nil for anything else.
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
    /// Reads the hexadecimal form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let hash = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "must be 64 lowercase hexadecimal digits")
        }
        self = hash
    }

    /// Writes the hexadecimal form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A picture of a person, without its bytes.
public struct Avatar: Codable, Hashable, Sendable {
    /// Names the bytes.
    public var hash: ContentHash
    /// What they are.
    public var type: ImageType
    /// How many; see ``ImageHeader/sizes``.
    public var size: Int
    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int

    /// Its parameters are the properties of the same names.
    public init(hash: ContentHash, type: ImageType, size: Int, width: Int, height: Int) {
        self.hash = hash
        self.type = type
        self.size = size
        self.width = width
        self.height = height
    }

    /// - Throws: `invalidField` when it is too large.
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

/// What kind of picture some bytes are.
public enum ImageType: String, Codable, Hashable, Sendable, CaseIterable {
    /// Portable Network Graphics (ISO/IEC 15948).
    case png = "image/png"
    /// JPEG (ITU-T T.81).
    case jpeg = "image/jpeg"

    /// What the first bytes say. Returns nil for neither.
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

/// What the first bytes of a picture say. A name or a media type says what somebody claims; this is what the bytes are.
public struct ImageHeader: Hashable, Sendable {
    /// The type.
    public let type: ImageType
    /// Pixels.
    public let width: Int
    /// Pixels.
    public let height: Int

    /// How many bytes a picture may have.
    public static let sizes = 1...(2 << 20)
    /// How many pixels a side may have: more is a bomb for whoever decodes it.
    public static let edges = 1...4096
    /// How many pixels it may have.
    public static let pixels = 16_000_000
    /// Whether it keeps to both limits.
    public var isSmallEnough: Bool { Self.isSmallEnough(width: width, height: height) }

    static func isSmallEnough(width: Int, height: Int) -> Bool {
        edges.contains(width) && edges.contains(height) && width * height <= pixels
    }

    /// Returns nil for what is neither a PNG nor a JPEG with a size.
    public init?(_ bytes: [UInt8]) {
        switch ImageType(signature: bytes) {
        case .png:
            // IHDR is the first chunk: length, type, width, height.
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

    /// Where a JPEG's frame header begins, behind its marker (ITU-T T.81, B.2.2): walks from segment to segment.
    private static func frame(in bytes: [UInt8]) -> Int? {
        var index = 2
        while index + 9 < bytes.count {
            guard bytes[index] == 0xFF else { return nil }
            let marker = bytes[index + 1]
            switch marker {
            case 0xFF: index += 1
            // SOF0 to SOF15, without DHT, JPG and DAC.
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

/// Gives the account a picture whose bytes were uploaded under their hash.
///
/// Rejected: `notFound` when they weren't, or an hour ago; `invalidField` when they aren't what is said of them. Result:
/// ``AvatarSet``; nothing if it was so.
public struct SetAvatar: CommandBody {
    /// The picture.
    public let avatar: Avatar

    /// Its parameters are the properties of the same names.
    public init(avatar: Avatar) {
        self.avatar = avatar
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        try avatar.check()
    }
}

/// Takes the picture from the account. Without one it changes nothing.
///
/// Result: ``AvatarRemoved``.
public struct RemoveAvatar: CommandBody {
    /// It has no parameters.
    public init() {}
}

/// The account has a picture, or another one.
public struct AvatarSet: EventBody {
    /// Whose.
    public let account: AccountID
    /// The picture.
    public let avatar: Avatar
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, avatar: Avatar, at: Instant) {
        self.account = account
        self.avatar = avatar
        self.at = at
    }
}

/// The account has no picture any more.
public struct AvatarRemoved: EventBody {
    /// Whose.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}
