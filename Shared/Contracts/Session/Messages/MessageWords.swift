public import QuartetVocabulary

/// A kept message, as its recipients read it.
public struct GroupMessage: Codable, Hashable, Sendable {
    /// Its number among the session's messages, from 1. The reader misses those that are for others.
    public let number: Int64
    /// The sender.
    public let account: AccountID
    /// The recipients; nil if everyone is one.
    public let to: [AccountID]?
    /// What it is.
    public let type: String
    /// The content.
    public let data: JSONValue?
    /// When it was sent.
    public let at: Instant

    public init(
        number: Int64, account: AccountID, to: [AccountID]? = nil, type: String, data: JSONValue? = nil, at: Instant
    ) {
        self.number = number
        self.account = account
        self.to = to
        self.type = type
        self.data = data
        self.at = at
    }

    /// The message of an event.
    public init(_ event: GroupMessageSent) {
        self.init(
            number: event.number, account: event.account, to: event.to, type: event.type, data: event.data,
            at: event.at)
    }
}

/// Limits of messages and signals.
public enum MessageRules {
    /// The largest data of a message, in bytes of JSON.
    public static let dataLimit = 45_000
    /// The largest data of a signal, in bytes of JSON.
    public static let signalDataLimit = 4096
    /// The longest type of a message or topic of a signal, in bytes.
    public static let typeLimit = 64
    /// The allowed numbers of recipients.
    public static let recipients = 1...100

    /// Checks a message's type or a signal's topic.
    public static func check(_ type: String, field: String) throws(Rejection) {
        guard type.utf8.count <= typeLimit, type.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._\-]*/) != nil else {
            throw Rejection(
                .invalidField, "Use 1 to \(typeLimit) letters, digits, dots, dashes and underscores for the \(field).",
                field: field)
        }
    }

    /// Checks the recipients of a message or signal.
    public static func check(recipients: [AccountID]?) throws(Rejection) {
        guard let recipients else { return }
        guard self.recipients.contains(recipients.count) else {
            throw Rejection(.invalidField, "Name 1 to 100 participants, or leave this out for everyone.", field: "to")
        }
        guard Set(recipients).count == recipients.count else {
            throw Rejection(.invalidField, "Name each participant once.", field: "to")
        }
    }

    /// Checks the size of a message's or signal's data.
    public static func check(_ data: JSONValue?, limit: Int) throws(Rejection) {
        guard let size = data?.encodedSize, size > limit else { return }
        throw Rejection(
            .messageTooLarge, "Shorten the data to at most \(limit) bytes of JSON; it has \(size).", field: "data",
            details: ["limit": .integer(Int64(limit))])
    }
}

extension Rejection.Code {
    /// A message's or signal's data has too many bytes. `details.limit` says how many are allowed.
    public static let messageTooLarge: Self = "messageTooLarge"
}
