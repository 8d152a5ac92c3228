package import QuartetSessionContract
package import QuartetVocabulary

/// What ``ContentID`` identifies.
package enum ContentSubject {}

/// The bytes of one attachment, as session stores them: named after the command that began it.
package typealias ContentID = ID<ContentSubject>

/// Where an attachment is kept. Two people may upload the same bytes to a session: neither learns of the other's, or can
/// use them, until one is complete.
package struct AttachmentKey: Hashable, Comparable, Sendable {
    package let group: GroupID
    /// The uploader.
    package let account: AccountID
    package let hash: ContentHash

    package init(_ group: GroupID, _ account: AccountID, _ hash: ContentHash) {
        self.group = group
        self.account = account
        self.hash = hash
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.group, left.account, left.hash) < (right.group, right.account, right.hash)
    }

    /// The upload that its chunks come from.
    package var upload: UploadKey { UploadKey(account, hash) }
}

/// An attachment, from its beginning on. Its room counts from then.
package struct AttachmentRow: Equatable, Sendable {
    /// Its bytes.
    package var content: ContentID
    /// In bytes.
    package var size: Int
    /// When chunks were adopted last. What isn't complete is forgotten an hour later.
    package var renewed: Instant
    /// Since when others see it; nil while it is being uploaded.
    package var completed: Instant?

    /// To read a row into.
    package static let blank = Self(content: .blank, size: 0, renewed: .blank)
}

/// What others see of a complete attachment besides.
package struct AttachmentDescription: Equatable, Sendable {
    /// The file's name.
    package var name: String
    /// Its media type.
    package var contentType: String
    /// Whatever the app says about it.
    package var metadata: JSONValue?

    package init(name: String, contentType: String, metadata: JSONValue? = nil) {
        self.name = name
        self.contentType = contentType
        self.metadata = metadata
    }
}

/// Where a chunk is kept.
package struct ChunkKey: Hashable, Comparable, Sendable {
    package let content: ContentID
    /// From 0.
    package let number: Int

    package init(_ content: ContentID, _ number: Int) {
        self.content = content
        self.number = number
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.content, left.number) < (right.content, right.number)
    }
}

/// A chunk that an app uploaded and that wasn't adopted yet.
package struct UploadedChunkKey: Hashable, Sendable {
    package let upload: UploadKey
    /// From 0.
    package let number: Int

    package init(_ upload: UploadKey, _ number: Int) {
        self.upload = upload
        self.number = number
    }
}

/// What the rules need to know about an uploaded chunk.
package struct UploadedChunk: Hashable, Sendable {
    /// In bytes.
    package let size: Int
    package let hash: ChunkHash

    package init(size: Int, hash: ChunkHash) {
        self.size = size
        self.hash = hash
    }
}

extension GroupRows {
    /// The attachments of a session, those that aren't complete too, in the order of their keys.
    func attachments(of group: GroupID) -> [(key: AttachmentKey, row: AttachmentRow)] {
        attachments.keys.filter { $0.group == group }.sorted().compactMap { key in
            attachments[key].map { (key, $0) }
        }
    }

    /// Forgets an attachment with its description. The tables delete its bytes a little later.
    mutating func forget(_ attachment: AttachmentKey) {
        attachments[attachment] = nil
        attachmentDescriptions[attachment] = nil
    }

    /// Forgets what an account is still uploading, to one session or to any.
    mutating func forgetUploads(of account: AccountID, to group: GroupID? = nil) {
        let keys = attachments.keys.filter { $0.account == account && (group == nil || $0.group == group) }
        for key in keys where attachments[key]?.completed == nil { forget(key) }
    }
}
