public import QuartetVocabulary

/// What a stream's name identifies.
public enum StreamSubject {}

/// `POST /v1/stream/token`: lets a stream go on until the token of this request ends.
public struct StreamTokenRequest: MessageBody {
    /// The stream's name, as its beginning gave it.
    public let stream: String

    public init(stream: String) {
        self.stream = stream
    }
}

public struct StreamTokenReply: Codable, Hashable, Sendable {
    /// Seconds.
    public let expiresIn: Int64

    package init(expiresIn: Int64) {
        self.expiresIn = expiresIn
    }
}

/// The beginning of a stream, before everything else: the data of `begun`.
public struct StreamBegun: Codable, Hashable, Sendable {
    /// The stream's name. Nobody else knows it.
    public let stream: String
    /// Seconds until it ends, unless a newer token is presented for it.
    public let expiresIn: Int64

    package init(stream: String, expiresIn: Int64) {
        self.stream = stream
        self.expiresIn = expiresIn
    }
}
