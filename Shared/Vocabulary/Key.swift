/// Keeps order: messages with one key are handled in the order in which they were appended. It is the account that
/// asks, or the group session.
///
/// Text of the form `kind/id`, 1 to 128 bytes of UTF-8.
public struct Key: Hashable, Sendable, TextCodable {
    public static var form: String { "1 to 128 bytes of text" }

    public let description: String

    /// Returns nil for empty text, more than 128 bytes of UTF-8, or U+0000.
    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), !text.utf8.contains(0) else { return nil }
        description = text
    }

    /// The key of an account's commands, and of the streams about it.
    public static func account(_ account: AccountID) -> Self { Self(kind: "account", id: account.description) }

    /// The key of a group session's commands, and of its stream.
    public static func group(_ group: GroupID) -> Self { Self(kind: "group", id: group.description) }

    /// The key of the commands that an edge process sends for itself.
    public static func edge(_ edge: OwnerID) -> Self { Self(kind: "edge", id: edge.description) }

    /// The account whose key this is; nil for other keys.
    public var account: AccountID? {
        description.hasPrefix("account/") ? AccountID(String(description.dropFirst("account/".count))) : nil
    }

    /// The group session whose key this is; nil for other keys.
    public var group: GroupID? {
        description.hasPrefix("group/") ? GroupID(String(description.dropFirst("group/".count))) : nil
    }

    /// The edge process whose key this is; nil for other keys.
    public var edge: OwnerID? {
        description.hasPrefix("edge/") ? OwnerID(String(description.dropFirst("edge/".count))) : nil
    }

    package init(kind: StaticString, id: String) {
        description = "\(kind)/\(id)"
    }
}
