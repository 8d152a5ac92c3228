import QuartetContractSupport
public import QuartetVocabulary

/// A file that somebody added to a group session, without its bytes.
public struct GroupAttachment: Codable, Hashable, Sendable, Identifiable {
    /// The hash that names its bytes. A session has the same bytes once.
    public var id: ContentHash
    /// Who added it. They may have left.
    public var account: AccountID
    /// The file's name.
    public var name: String
    /// Its media type, as its uploader says.
    public var contentType: String
    /// In bytes.
    public var size: Int
    /// When.
    public var added: Instant
    /// Whatever the app says about it; an object.
    public var metadata: JSONValue?

    public init(
        id: ContentHash, account: AccountID, name: String, contentType: String, size: Int, added: Instant,
        metadata: JSONValue? = nil
    ) {
        self.id = id
        self.account = account
        self.name = name
        self.contentType = contentType
        self.size = size
        self.added = added
        self.metadata = metadata
    }
}

/// What an attachment may be.
public enum AttachmentRules {
    /// In bytes.
    public static let sizes = 1...(100 << 20)
    /// How many chunks one command adopts.
    public static let adoptions = 1...64
    /// The largest metadata, in bytes of JSON.
    public static let metadataLimit = 4096
    /// The file's name, in bytes, as in most file systems.
    public static let nameLimit = 255
    static let name = TextRule(1...nameLimit)

    /// How many chunks so many bytes have.
    public static func chunks(in size: Int) -> Int { (size + ContentHash.chunkSize - 1) / ContentHash.chunkSize }

    /// How many bytes a chunk has: the last one has the rest.
    public static func size(ofChunk number: Int, of size: Int) -> Int {
        min(ContentHash.chunkSize, size - number * ContentHash.chunkSize)
    }

    /// The number that the last chunk of the largest attachment has.
    public static var lastChunk: Int { chunks(in: sizes.upperBound) - 1 }

    /// - Throws: ``Rejection`` unless it is the bare name of a file.
    static func check(name: String) throws(Rejection) {
        try self.name.check(name, field: "name")
        guard name.utf8.count <= nameLimit else {
            throw Rejection(.invalidField, "Shorten name to at most \(nameLimit) bytes.", field: "name")
        }
        guard !name.contains(where: { $0 == "/" || $0 == "\\" }), name != ".", name != ".." else {
            throw Rejection(.invalidField, "Give the file's name without a path.", field: "name")
        }
    }

    /// - Throws: ``Rejection`` unless it is a media type without parameters (RFC 6838, section 4.2).
    static func check(contentType: String) throws(Rejection) {
        let form = /[a-z0-9][a-z0-9!#$&^_.+\-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+\-]{0,62}/
        guard contentType.wholeMatch(of: form) != nil else {
            throw Rejection(
                .invalidField, "Give a media type in lower case without parameters, as in application/pdf.",
                field: "contentType")
        }
    }

    static func check(metadata: JSONValue) throws(Rejection) {
        guard case .object = metadata else {
            throw Rejection(.invalidField, "Give a JSON object as metadata.", field: "metadata")
        }
        guard metadata.encodedSize <= metadataLimit else {
            throw Rejection(
                .invalidField, "Shorten the metadata to at most \(metadataLimit) bytes of JSON.", field: "metadata")
        }
    }
}

extension Rejection.Code {
    /// The session has no such attachment, or the asker hasn't begun to upload it.
    public static let attachmentNotFound: Self = "attachmentNotFound"
    /// The session has an attachment with the same bytes.
    public static let attachmentExists: Self = "attachmentExists"
    /// The session has as many attachments as it takes.
    public static let tooManyAttachments: Self = "tooManyAttachments"
    /// All attachments of the asker together would be too large. `details.free` says how many bytes are left.
    public static let accountStorageFull: Self = "accountStorageFull"
    /// All attachments of the session together would be too large. `details.free` says how many bytes are left.
    public static let groupStorageFull: Self = "groupStorageFull"
    /// A chunk isn't there. `details.chunk` says which one.
    public static let chunkMissing: Self = "chunkMissing"
    /// A chunk hasn't as many bytes as it must have. `details.chunk` says which one.
    public static let wrongChunkSize: Self = "wrongChunkSize"
    /// The bytes aren't those that the attachment's id names.
    public static let contentMismatch: Self = "contentMismatch"
}

extension Rejection {
    /// The session has no such attachment for this account.
    public static let attachmentNotFound = Rejection(
        .attachmentNotFound, "There is no such attachment; begin to upload it first.", field: "attachment")

    /// The session has these bytes.
    public static let attachmentExists = Rejection(
        .attachmentExists, "The session has this attachment already; use that one.", field: "attachment")

    /// So many bytes are left to the asker.
    public static func accountStorageFull(free: Int) -> Self {
        Rejection(
            .accountStorageFull,
            "Your attachments have room for \(free) more bytes; remove one first, in any of your sessions.",
            field: "size", details: ["free": .integer(Int64(free))])
    }

    /// So many bytes are left in the session.
    public static func groupStorageFull(free: Int) -> Self {
        Rejection(
            .groupStorageFull, "The session's attachments have room for \(free) more bytes; remove one first.",
            field: "size", details: ["free": .integer(Int64(free))])
    }

    /// A chunk isn't there.
    public static func chunkMissing(_ number: Int) -> Self {
        Rejection(
            .chunkMissing, "Chunk \(number) isn't here; upload it, and adopt it.",
            details: ["chunk": .integer(Int64(number))])
    }

    /// A chunk has another size than it must have.
    public static func wrongChunkSize(_ number: Int, _ size: Int, expected: Int) -> Self {
        Rejection(
            .wrongChunkSize, "Chunk \(number) has \(size) bytes instead of \(expected); upload it again.",
            details: ["chunk": .integer(Int64(number))])
    }

    /// The bytes have another hash.
    public static let contentMismatch = Rejection(
        .contentMismatch, "The bytes aren't those of this id; remove the attachment, and upload it again.",
        field: "attachment")
}
