/// `GET /v1/stream/hashes`: the states of the account's sequences, each by its hash.
public struct StreamHashes: Codable, Hashable, Sendable {
    public struct Entry: Codable, Hashable, Sendable {
        /// The sequence's name, as in `contacts`.
        public let stream: String
        /// Where it was, as its part of an event's id.
        public let id: String
        /// 16 hexadecimal digits.
        public let hash: String

        public init(stream: String, id: String, hash: String) {
            (self.stream, self.id, self.hash) = (stream, id, hash)
        }
    }

    public let hashes: [Entry]

    public init(hashes: [Entry]) { self.hashes = hashes }
}
