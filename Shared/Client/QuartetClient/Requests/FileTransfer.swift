import Crypto
public import Foundation
import QuartetAPI
public import QuartetSessionContract
public import QuartetVocabulary

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How far a file is on its way.
public struct FileProgress: Hashable, Sendable {
    /// Bytes, which the other side has for certain.
    public let done: Int
    public let size: Int

    public init(done: Int, size: Int) {
        self.done = done
        self.size = size
    }

    public var fraction: Double { size > 0 ? Double(done) / Double(size) : 1 }
}

/// A file of this device, to be shared in a group session.
public struct AttachmentFile: Hashable, Sendable {
    public var url: URL
    public var name: String
    /// A media type in lower case, without parameters.
    public var contentType: String
    /// Whatever the app says about it: an object.
    public var metadata: JSONValue?

    /// - Parameter name: The file's own unless given.
    public init(
        _ url: URL, name: String? = nil, contentType: String = "application/octet-stream", metadata: JSONValue? = nil
    ) {
        self.url = url
        self.name = name ?? url.lastPathComponent
        self.contentType = contentType
        self.metadata = metadata
    }
}

/// Sends and fetches attachments piece by piece. What a broken attempt left is gone on with by the next one.
struct FileTransfer: Sendable {
    let requests: Requests
    let progress: @Sendable (FileProgress) -> Void

    /// How many chunks one request carries, as many as the server takes.
    private static let pieceChunks = 4
    /// How many requests are on their way.
    private static let width = 4
    /// How many chunks a session adopts at a time.
    private static let windowChunks = 64

    // MARK: Uploading

    @concurrent
    func upload(_ file: AttachmentFile, to group: GroupID) async throws(QuartetError) -> ContentHash {
        let size = try Self.size(of: file.url)
        // A file that is too large isn't read at all.
        guard AttachmentRules.sizes.contains(size) else { throw .refused(APIError(.invalidField, field: "size")) }
        let id = try Self.hash(of: file.url)
        do throws(QuartetError) {
            _ = try await requests.command(
                BeginAttachment(group: group, attachment: id, size: size), within: nil)
        } catch .refused(let error) where error.code == .attachmentExists {
            progress(FileProgress(done: size, size: size))
            return id
        }
        let chunks = AttachmentRules.chunks(in: size)
        var missing = IndexSet(integersIn: 0..<chunks).subtracting(try await uploaded(id))
        var done = size - missing.reduce(0) { $0 + AttachmentRules.size(ofChunk: $1, of: size) }
        progress(FileProgress(done: done, size: size))
        for first in stride(from: 0, to: chunks, by: Self.windowChunks) {
            let window = first..<min(first + Self.windowChunks, chunks)
            let pieces = Self.pieces(of: missing.intersection(IndexSet(integersIn: window)))
            try await send(pieces, of: file.url, id) { piece in
                done += piece.reduce(0) { $0 + AttachmentRules.size(ofChunk: $1, of: size) }
                progress(FileProgress(done: done, size: size))
            }
            missing.remove(integersIn: window)
            _ = try await requests.command(
                AdoptChunks(group: group, attachment: id, first: first, count: window.count), within: nil)
        }
        _ = try await requests.command(
            CompleteAttachment(
                group: group, attachment: id, chunks: chunks, name: file.name, contentType: file.contentType,
                metadata: file.metadata), within: nil)
        return id
    }

    /// The chunks that the server has of an earlier attempt.
    private func uploaded(_ id: ContentHash) async throws(QuartetError) -> IndexSet {
        do throws(QuartetError) {
            let progress = try Requests.decoded(UploadProgress.self, from: try await requests.read(.upload(id)))
            return progress.chunks.reduce(into: IndexSet()) { chunks, run in
                guard let first = run.first, let last = run.last, 0 <= first, first <= last,
                    last <= AttachmentRules.lastChunk
                else { return }
                chunks.insert(integersIn: first...last)
            }
        } catch .refused(let error) where error.code == .notFound {
            return []
        }
    }

    /// Runs of chunks that one request carries.
    private static func pieces(of chunks: IndexSet) -> [Range<Int>] {
        chunks.rangeView.flatMap { run in
            stride(from: run.lowerBound, to: run.upperBound, by: pieceChunks).map {
                $0..<min($0 + pieceChunks, run.upperBound)
            }
        }
    }

    private func send(
        _ pieces: [Range<Int>], of file: URL, _ id: ContentHash, sent: (Range<Int>) -> Void
    ) async throws(QuartetError) {
        try await Requests.reading {
            try await withThrowingTaskGroup(of: Range<Int>.self) { group in
                for (index, piece) in pieces.enumerated() {
                    if index >= Self.width, let piece = try await group.next() { sent(piece) }
                    group.addTask {
                        let bytes = try Self.read(
                            file, from: piece.lowerBound * ContentHash.chunkSize,
                            count: piece.count * ContentHash.chunkSize)
                        _ = try await requests.signedIn(.chunks(id, first: piece.lowerBound), bytes: bytes)
                        return piece
                    }
                }
                while let piece = try await group.next() { sent(piece) }
            }
        }
    }

    // MARK: Downloading

    /// How much one request asks for.
    private static let rangeSize = 4 << 20

    @concurrent
    func download(_ attachment: GroupAttachment, of group: GroupID, to destination: URL) async throws(QuartetError) {
        let part = destination.appendingPathExtension("part")
        let isResumed = try await fetch(attachment, of: group, into: part)
        var hash = try Self.hash(of: part)
        if hash != attachment.id, isResumed {
            // What an earlier attempt left was of another file.
            try Self.storing { try FileManager.default.removeItem(at: part) }
            _ = try await fetch(attachment, of: group, into: part)
            hash = try Self.hash(of: part)
        }
        guard hash == attachment.id else {
            try Self.storing { try FileManager.default.removeItem(at: part) }
            throw .unreadable("the file's bytes aren't those that its id names")
        }
        // Readers of the destination find the old file or the new one, and never none.
        try Self.storing {
            guard rename(part.path, destination.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    /// Fetches what a file lacks.
    /// - Returns: Whether it had something already.
    private func fetch(
        _ attachment: GroupAttachment, of group: GroupID, into part: URL
    ) async throws(QuartetError) -> Bool {
        if !FileManager.default.fileExists(atPath: part.path) {
            guard FileManager.default.createFile(atPath: part.path, contents: nil) else {
                throw .notStored("\(part.path) can't be written")
            }
        }
        let kept = try Self.size(of: part)
        // One that is longer isn't the beginning of this file.
        var done = kept > attachment.size ? 0 : kept
        progress(FileProgress(done: done, size: attachment.size))
        while done < attachment.size {
            let range = done..<min(done + Self.rangeSize, attachment.size)
            let bytes = try await requests.read(.attachment(group, attachment.id, bytes: range))
            guard bytes.count == range.count else {
                throw .unreadable("the server sent other bytes than it was asked for")
            }
            try Self.storing {
                let file = try FileHandle(forWritingTo: part)
                defer { try? file.close() }
                try file.truncate(atOffset: UInt64(range.lowerBound))
                try file.write(contentsOf: Data(bytes))
            }
            done = range.upperBound
            progress(FileProgress(done: done, size: attachment.size))
        }
        return kept > 0
    }

    // MARK: Files

    private static func size(of file: URL) throws(QuartetError) -> Int {
        try reading { (try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber)?.intValue ?? 0 }
    }

    private static func hash(of file: URL) throws(QuartetError) -> ContentHash {
        try reading {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            var chunks: [ChunkHash] = []
            while let chunk = try handle.read(upToCount: ContentHash.chunkSize), !chunk.isEmpty {
                chunks.append(ChunkHash(of: Array(chunk)[...]))
            }
            return ContentHash(of: chunks)
        }
    }

    private static func read(_ file: URL, from offset: Int, count: Int) throws(QuartetError) -> [UInt8] {
        try reading {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(offset))
            return Array(try handle.read(upToCount: count) ?? Data())
        }
    }

    private static func reading<Value>(_ body: () throws -> Value) throws(QuartetError) -> Value {
        do { return try body() } catch { throw .unreadable("the file: \(error)") }
    }

    private static func storing(_ body: () throws -> Void) throws(QuartetError) {
        do { try body() } catch { throw .notStored("\(error)") }
    }
}

extension GroupSessionClient {
    public typealias Progress = @Sendable (FileProgress) -> Void

    /// Shares a file in a session. Called again after it failed, it goes on where it was.
    /// - Returns: The attachment's id: a hash of its bytes.
    @discardableResult
    public func attach(
        _ file: AttachmentFile, to group: GroupID, progress: @escaping Progress = { _ in }
    ) async throws(QuartetError) -> ContentHash {
        try await upload(group, file, progress)
    }

    /// Fetches an attachment. Until it is whole, its bytes are in a file beside the destination with the extension `part`; called again
    /// after it failed, it goes on from these.
    public func download(
        _ attachment: GroupAttachment, of group: GroupID, to destination: URL, progress: @escaping Progress = { _ in }
    ) async throws(QuartetError) {
        try await fetch(group, attachment, destination, progress)
    }
}
