public import QuartetVocabulary

/// An account's picture.
package enum AvatarCommand: MessageSet {
    case setAvatar(SetAvatar)
    case removeAvatar(RemoveAvatar)

    package static let cases: Cases<Self> = [Case(Self.setAvatar), Case(Self.removeAvatar)]

    package var body: any CommandBody {
        switch self {
        case .setAvatar(let body): body
        case .removeAvatar(let body): body
        }
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
