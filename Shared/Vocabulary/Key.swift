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

    /// The account whose key this is; nil for other keys.
    public var account: AccountID? {
        description.hasPrefix("account/") ? AccountID(String(description.dropFirst("account/".count))) : nil
    }

    package init(kind: StaticString, id: String) {
        description = "\(kind)/\(id)"
    }
}
