public import QuartetSessionContract
public import QuartetVocabulary

/// How far an upload is.
public struct UploadProgress: Codable, Hashable, Sendable {
    /// What the upload is called: the hash of its chunks' hashes.
    public let upload: ContentHash
    /// How many bytes are here.
    public let size: Int64
    /// Which chunks are here: the first and last number of each run, in order.
    public let chunks: [[Int]]
    /// When they are deleted, unless another chunk comes.
    public let expires: Instant

    package init(upload: ContentHash, size: Int64, chunks: [[Int]], expires: Instant) {
        self.upload = upload
        self.size = size
        self.chunks = chunks
        self.expires = expires
    }
}
