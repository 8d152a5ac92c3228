import Foundation
import QuartetContractSupport
public import QuartetVocabulary

/// What a message or signal says. Seven kinds are the same in all apps; apps add types of their own.
///
/// A kind's data is an object with these members. Other members are delivered, too, so that a later release can add some.
public enum MessageContent: Hashable, Sendable {
    case text(TextMessage)
    case reaction(ReactionMessage)
    case ready(ReadyMessage)
    case action(ActionMessage)
    case score(ScoreMessage)
    case typing(TypingMessage)
    case cursor(CursorMessage)
    /// A type that this release doesn't know: delivered as it is.
    case custom(type: String, data: JSONValue?)

    /// - Throws: a ``Rejection`` that names the member of the data which the type doesn't allow.
    public init(type: String, data: JSONValue?) throws(Rejection) {
        func read<Kind: MessageKind>(_ make: (Kind) -> Self) throws(Rejection) -> Self {
            make(try Kind(checking: data))
        }
        self =
            switch type {
            case TextMessage.type: try read(Self.text)
            case ReactionMessage.type: try read(Self.reaction)
            case ReadyMessage.type: try read(Self.ready)
            case ActionMessage.type: try read(Self.action)
            case ScoreMessage.type: try read(Self.score)
            case TypingMessage.type: try read(Self.typing)
            case CursorMessage.type: try read(Self.cursor)
            default: .custom(type: type, data: data)
            }
    }
}

/// A kind of message that all apps know.
public protocol MessageKind: Codable, Hashable, Sendable {
    /// Its type in a message, or its topic in a signal.
    static var type: String { get }
    /// Checks what decoding doesn't.
    func validate() throws(Rejection)
}

extension MessageKind {
    public func validate() throws(Rejection) {}

    /// Reads and checks a message's data.
    fileprivate init(checking data: JSONValue?) throws(Rejection) {
        do {
            self = try JSONDecoder().decode(Self.self, from: try JSONEncoder().encode(data ?? .object([:])))
        } catch let error as DecodingError {
            throw Rejection(
                .invalidField,
                "A message of the type \(Self.type) has other data: \(error.field.map { "in \($0), " } ?? "")\(error.reason).",
                field: error.field.map { "data.\($0)" } ?? "data")
        } catch {
            throw Rejection(.invalidField, "A message of the type \(Self.type) has other data.", field: "data")
        }
        try validate()
    }
}

/// Something that a person wrote.
public struct TextMessage: MessageKind {
    public static let type = "text"

    /// Up to 4,000 characters.
    public let text: String
    /// The number of the message that it answers.
    public let replyTo: Int64?

    public init(text: String, replyTo: Int64? = nil) {
        self.text = text
        self.replyTo = replyTo
    }

    public func validate() throws(Rejection) {
        try TextRule(1...4000, hasLines: true).check(text, field: "data.text")
    }
}

/// An emoji, to a message or to what is happening.
public struct ReactionMessage: MessageKind {
    public static let type = "reaction"

    /// Up to 8 characters.
    public let emoji: String
    /// The number of the message that it is about.
    public let message: Int64?

    public init(emoji: String, message: Int64? = nil) {
        self.emoji = emoji
        self.message = message
    }

    public func validate() throws(Rejection) { try TextRule(1...8).check(emoji, field: "data.emoji") }
}

/// Whether the sender is ready to begin or to go on.
public struct ReadyMessage: MessageKind {
    public static let type = "ready"

    public let isReady: Bool

    public init(isReady: Bool) {
        self.isReady = isReady
    }
}

/// Something that the sender does in the app, and that the others carry out as well.
public struct ActionMessage: MessageKind {
    public static let type = "action"

    /// Up to 64 characters.
    public let name: String
    /// Whatever the action needs.
    public let parameters: JSONValue?

    public init(name: String, parameters: JSONValue? = nil) {
        self.name = name
        self.parameters = parameters
    }

    public func validate() throws(Rejection) { try TextRule(1...64).check(name, field: "data.name") }
}

/// Points that somebody won.
public struct ScoreMessage: MessageKind {
    public static let type = "score"

    public let points: Double
    /// Whose, if not the sender's.
    public let participant: AccountID?

    public init(points: Double, participant: AccountID? = nil) {
        self.points = points
        self.participant = participant
    }
}

/// Whether the sender is typing. Best sent as a signal.
public struct TypingMessage: MessageKind {
    public static let type = "typing"

    public let isTyping: Bool

    public init(isTyping: Bool) {
        self.isTyping = isTyping
    }
}

/// Where the sender points. Best sent as a signal.
public struct CursorMessage: MessageKind {
    public static let type = "cursor"

    /// From the left, 0 to 1.
    public let x: Double
    /// From the top, 0 to 1.
    public let y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    public func validate() throws(Rejection) {
        for (name, value) in [("x", x), ("y", y)] where !(0...1).contains(value) {
            throw Rejection(.invalidField, "Give \(name) as a number from 0 to 1.", field: "data.\(name)")
        }
    }
}
