/// Part of what a stream is to carry.
public enum StreamFilter: Sendable {
    /// `contacts`, for example.
    case stream(String)
    /// A type of events.
    case type(String)
    /// An account.
    case contact(String)

    /// As the query has it.
    public var name: String {
        switch self {
        case .stream: "stream"
        case .type: "type"
        case .contact: "contact"
        }
    }

    public var value: String {
        switch self {
        case .stream(let value), .type(let value), .contact(let value): value
        }
    }
}
