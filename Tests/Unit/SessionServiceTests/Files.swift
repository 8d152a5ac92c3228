import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit

/// A file that somebody attaches to a group session.
struct File: Sendable {
    let bytes: [UInt8]
    let hash: ContentHash

    /// - Parameters:
    ///   - seed: Other numbers give other files.
    ///   - size: In bytes.
    init(_ seed: UInt8, size: Int) {
        bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7 &+ Int(seed)) }
        hash = ContentHash(of: bytes)
    }

    var chunks: [[UInt8]] {
        stride(from: 0, to: bytes.count, by: ContentHash.chunkSize).map {
            Array(bytes[$0..<min($0 + ContentHash.chunkSize, bytes.count)])
        }
    }
}

extension Gathering {
    /// Uploads a file's chunks, or some of them.
    mutating func upload(_ file: File, as name: ContentHash? = nil, of account: AccountID, _ numbers: [Int]? = nil) {
        let chunks = file.chunks
        for number in numbers ?? Array(chunks.indices) {
            let key = UploadedChunkKey(UploadKey(account, name ?? file.hash), number)
            rows.uploadedChunks[key] = UploadedChunk(
                size: chunks[number].count, hash: ChunkHash(of: chunks[number]))
        }
    }

    /// Uploads a file and adopts all of it.
    mutating func adopt(_ file: File, by account: AccountID, to group: GroupID) throws {
        upload(file, of: account)
        try ask(account, BeginAttachment(group: group, attachment: file.hash, size: file.bytes.count))
        try ask(account, AdoptChunks(group: group, attachment: file.hash, first: 0, count: file.chunks.count))
    }

    /// Attaches a file.
    @discardableResult
    mutating func attach(_ file: File, by account: AccountID, to group: GroupID) throws -> AttachmentAdded {
        try adopt(file, by: account, to: group)
        return try ask(account, file.completion(in: group)).first(as: AttachmentAdded.self)
    }
}

extension File {
    func completion(in group: GroupID) -> CompleteAttachment {
        CompleteAttachment(
            group: group, attachment: hash, chunks: chunks.count, name: "film.mp4", contentType: "video/mp4",
            metadata: ["length": 12, "none": .null])
    }
}
