public import QuartetVocabulary

/// Attachments of a group session.
///
/// Their bytes never go through a log. An app begins an attachment, which reserves its room; uploads the bytes in chunks to
/// session-client; has the session adopt these, a few at a time; and completes it. Only then others see it. What isn't
/// completed can be resumed for an hour after the last adoption.
package enum AttachmentCommand: MessageSet {
    case beginAttachment(BeginAttachment)
    case adoptChunks(AdoptChunks)
    case completeAttachment(CompleteAttachment)
    case removeAttachment(RemoveAttachment)

    package static let cases: Cases<Self> = [
        Case(Self.beginAttachment), Case(Self.adoptChunks), Case(Self.completeAttachment),
        Case(Self.removeAttachment),
    ]

    package var body: any CommandBody {
        switch self {
        case .beginAttachment(let body): body
        case .adoptChunks(let body): body
        case .completeAttachment(let body): body
        case .removeAttachment(let body): body
        }
    }
}

/// Reserves the room for an attachment that the asker is going to upload. Asked again, it renews the hour.
///
/// Rejected: `attachmentExists`, `tooManyAttachments`, `accountStorageFull` and `groupStorageFull` with the room that is left.
/// Publishes nothing.
public struct BeginAttachment: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The hash of the chunks' hashes.
    public let attachment: ContentHash
    /// In bytes; see ``AttachmentRules/sizes``.
    public let size: Int

    public init(group: GroupID, attachment: ContentHash, size: Int) {
        self.group = group
        self.attachment = attachment
        self.size = size
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        guard AttachmentRules.sizes.contains(size) else {
            throw Rejection(
                .invalidField, "Attach a file of 1 to \(AttachmentRules.sizes.upperBound) bytes.", field: "size")
        }
    }
}

/// Copies chunks that the asker uploaded. Chunks that were adopted before are left as they are.
///
/// Rejected: `attachmentNotFound` when it wasn't begun, or too long ago; `chunkMissing`, `wrongChunkSize` with the chunk.
/// Publishes nothing.
package struct AdoptChunks: GroupCommandBody, PublicCommandBody {
    /// The session.
    package let group: GroupID
    /// The attachment that the asker began.
    package let attachment: ContentHash
    /// The first chunk's number, from 0.
    package let first: Int
    /// How many; see ``AttachmentRules/adoptions``. So one command moves 4 MiB at most.
    package let count: Int

    package init(group: GroupID, attachment: ContentHash, first: Int, count: Int) {
        self.group = group
        self.attachment = attachment
        self.first = first
        self.count = count
    }

    /// The chunks' numbers.
    package var numbers: Range<Int> { first..<first + count }

    /// Checks the fields that need no state.
    package func validate() throws(Rejection) {
        guard (0...AttachmentRules.lastChunk).contains(first) else {
            throw Rejection(
                .invalidField, "Give a chunk's number from 0 to \(AttachmentRules.lastChunk).", field: "first")
        }
        guard AttachmentRules.adoptions.contains(count) else {
            throw Rejection(
                .invalidField, "Adopt 1 to \(AttachmentRules.adoptions.upperBound) chunks at a time.", field: "count")
        }
    }
}

/// Shows an attachment to everybody in the session, once all its chunks are adopted and their hashes make its id.
///
/// Rejected: `attachmentNotFound`, `attachmentExists`, `chunkMissing` with the first one that is missing, `contentMismatch`,
/// `invalidField`. Result: ``AttachmentAdded``; nothing if it was complete.
public struct CompleteAttachment: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The attachment that the asker began.
    public let attachment: ContentHash
    /// How many it has.
    public let chunks: Int
    /// The file's name.
    public let name: String
    /// Its media type, in lower case and without parameters.
    public let contentType: String
    /// Whatever the app says about it: an object of at most ``AttachmentRules/metadataLimit`` bytes.
    public let metadata: JSONValue?

    public init(
        group: GroupID, attachment: ContentHash, chunks: Int, name: String, contentType: String,
        metadata: JSONValue? = nil
    ) {
        self.group = group
        self.attachment = attachment
        self.chunks = chunks
        self.name = name
        self.contentType = contentType
        self.metadata = metadata
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        guard (1...AttachmentRules.lastChunk + 1).contains(chunks) else {
            throw Rejection(
                .invalidField, "Give a number of chunks from 1 to \(AttachmentRules.lastChunk + 1).", field: "chunks")
        }
        try AttachmentRules.check(name: name)
        try AttachmentRules.check(contentType: contentType)
        if let metadata { try AttachmentRules.check(metadata: metadata) }
    }
}

/// Removes an attachment: one's own, complete or not, or as the host anybody's.
///
/// Rejected: `attachmentNotFound`, `notHost`. Result: ``AttachmentRemoved``; nothing if it wasn't complete.
public struct RemoveAttachment: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The attachment.
    public let attachment: ContentHash

    public init(group: GroupID, attachment: ContentHash) {
        self.group = group
        self.attachment = attachment
    }
}
