import Logging
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Bytes that apps upload, in chunks that wait for their owner to claim them. No log ever has them.
///
/// An upload belongs to its account: its name is no key, so nobody else can look at it, add to it or claim it.
struct Uploads: Sendable {
    let pool: Pool
    private let arrivals = Arrivals(
        rate: (EdgeLimits.chunks, EdgeLimits.chunksOfAddress),
        atOnce: (EdgeLimits.chunksAtOnce, EdgeLimits.chunksAtOnceOfAddress))
    /// Of the time in which chunks are stored.
    private let storing = Share(0.25)
    /// Of the time in which a service copies chunks: that keeps a batch busy for longer than other commands do.
    private let claims = Share(0.25)
    /// How many bytes are to wait to be claimed: of everybody, and at most of one account.
    private static let waitingLimit: Int64 = 4 << 30
    private static let accountLimit: Int64 = 200 << 20
    /// How many bytes of an account may always wait: enough for a picture, or for one piece of an attachment.
    private static let smallLimit: Int64 = 4 << 20
    /// How many chunks one transaction deletes.
    private static let piece: Int64 = 64

    // MARK: Chunks

    /// Takes in chunks of an upload. Each keeps the whole upload for another hour.
    /// - Parameters:
    ///   - number: Of the first chunk.
    ///   - receive: Receives so many bytes at most, within a time. Called once there is a place for them.
    func add(
        to upload: ContentHash, from number: Int, by caller: Caller, _ call: Call,
        receive: (_ limit: Int, _ time: Duration) async throws -> [UInt8]
    ) async throws {
        try await arrivals.admit(caller, call) {
            let bytes = try await receive(EdgeLimits.chunksOfRequest.value, .seconds(EdgeLimits.bytesTime.value))
            let last = number + AttachmentRules.chunks(in: bytes.count) - 1
            guard (number...AttachmentRules.lastChunk).contains(last) else {
                throw APIError(
                    .invalidParameter,
                    bytes.isEmpty
                        ? "The body must be a chunk."
                        : "The last chunk's number is at most \(AttachmentRules.lastChunk).",
                    field: "chunk")
            }
            try await store(bytes, as: upload, from: number, for: caller.account)
        }
    }

    /// Stores bytes as chunks, from a number on. What was there under a number is replaced.
    func store(
        _ bytes: [UInt8], as upload: ContentHash, from number: Int = 0, for account: AccountID
    ) async throws {
        let chunks = stride(from: 0, to: bytes.count, by: ContentHash.chunkSize).map {
            Bytes(Array(bytes[$0..<min($0 + ContentHash.chunkSize, bytes.count)]))
        }
        let numbers = chunks.indices.map { Int32(number + $0) }
        try await storing.use {
            try await pool.withConnection { database in
                try database.transaction { database in
                    try Self.store(chunks, numbers, as: Bytes(upload.bytes), for: account, database)
                    try Self.requireRoom(for: account, database)
                }
            }
        }
    }

    private static func store(
        _ chunks: [Bytes], _ numbers: [Int32], as hash: Bytes, for account: AccountID, _ database: Database
    ) throws {
        // This locks the upload: its chunks come one request after the other.
        try database.execute(
            """
            INSERT INTO session_client.upload AS u (account, hash) VALUES (\(account), \(hash))
            ON CONFLICT ON CONSTRAINT upload_is_one_row DO UPDATE SET renewed_at = clock_timestamp()
            """)
        try database.execute(
            """
            INSERT INTO session_client.upload_chunk AS c (account, hash, number, bytes)
            SELECT \(account), \(hash), n.number, n.bytes FROM unnest(\(numbers), \(chunks)) AS n(number, bytes)
            ON CONFLICT ON CONSTRAINT upload_chunk_is_stored_once
            DO UPDATE SET bytes = excluded.bytes WHERE c.bytes <> excluded.bytes
            """)
        try database.execute(
            """
            UPDATE session_client.upload AS u
               SET size = (SELECT sum(octet_length(c.bytes)) FROM session_client.upload_chunk AS c
                            WHERE c.account = u.account AND c.hash = u.hash)
             WHERE u.account = \(account) AND u.hash = \(hash)
            """)
    }

    /// How many bytes of one account may wait while so many wait of everybody. Few accounts can't take the room of all others:
    /// as it gets short, each may have an eighth of what is left.
    static func allowance(whileWaiting waiting: Int64) -> Int64 {
        min(accountLimit, max(smallLimit, (waitingLimit - waiting) / 8))
    }

    /// A small upload counts as one of a whole chunk, so that there can't be very many.
    private static func requireRoom(for account: AccountID, _ database: Database) throws {
        let chunk = Int64(ContentHash.chunkSize)
        let waiting = try database.query(
            """
            SELECT coalesce(sum(greatest(u.size, \(chunk))), 0)::bigint,
                   coalesce(sum(greatest(u.size, \(chunk))) FILTER (WHERE u.account = \(account)), 0)::bigint
              FROM session_client.upload AS u
            """
        ).only?.decode(Int64.self, Int64.self)
        guard let waiting else { return }
        guard waiting.1 <= accountLimit else {
            throw APIError(
                .uploadsFull,
                "Your uploads that wait have \(accountLimit >> 20) MB; complete or delete one first, or wait an hour.")
        }
        guard waiting.1 <= allowance(whileWaiting: waiting.0) else {
            throw APIError(.overloaded, "Too many uploads are waiting; try again later.", retryAfter: 600)
        }
    }

    /// How far an upload of the caller's is.
    func progress(of upload: ContentHash, by caller: Caller) async throws -> UploadProgress {
        let (account, hash) = (caller.account, Bytes(upload.bytes))
        let found = try await pool.withConnection { database in
            try database.transaction(isolation: .repeatableRead, readOnly: true) { database -> UploadProgress? in
                let row = try database.query(
                    """
                    SELECT u.size, u.renewed_at + r.keep
                      FROM session_client.upload AS u JOIN session_client.retention AS r ON r.subject = 'upload'
                     WHERE u.account = \(account) AND u.hash = \(hash) AND u.size > 0
                    """
                ).only
                guard let (size, expires) = try row?.decode(Int64.self, Instant.self) else { return nil }
                let runs = try database.query(
                    """
                    SELECT min(c.number), max(c.number)
                      FROM (SELECT k.number, k.number - row_number() OVER (ORDER BY k.number) AS run
                              FROM session_client.upload_chunk AS k
                             WHERE k.account = \(account) AND k.hash = \(hash)) AS c
                     GROUP BY c.run ORDER BY 1
                    """
                ).map { [Int(try $0.decode(0, as: Int32.self)), Int(try $0.decode(1, as: Int32.self))] }
                return UploadProgress(upload: upload, size: size, chunks: runs, expires: expires)
            }
        }
        guard let found else { throw APIError(.notFound, "There is no chunk of this upload.", field: "upload") }
        return found
    }

    // MARK: Claiming

    /// Sends a command. One that copies chunks waits for its turn; what the last of them has claimed is deleted.
    func claim<Value: Sendable>(
        by command: any CommandBody, _ caller: Caller, _ call: Call, _ send: () async throws -> Value
    ) async throws -> Value {
        if command is AdoptChunks { return try await claims.use(send) }
        let value = try await send()
        if let completed = command as? CompleteAttachment {
            await discard(completed.attachment, of: caller.account, call.logger)
        }
        return value
    }

    // MARK: Deleting

    /// Deletes an upload of the caller's.
    func delete(_ upload: ContentHash, by caller: Caller) async throws {
        try await delete(upload, of: caller.account)
    }

    /// Deletes an upload that was claimed or refused. If this fails, it is deleted after an hour.
    func discard(_ upload: ContentHash, of account: AccountID, _ logger: Logger) async {
        do { try await delete(upload, of: account) } catch {
            logger.notice(
                "can't delete a claimed upload; it will be deleted after an hour", metadata: ["error": "\(error)"])
        }
    }

    /// In pieces, each in its own transaction.
    private func delete(_ upload: ContentHash, of account: AccountID) async throws {
        let hash = Bytes(upload.bytes)
        while try await pool.withConnection({ database in
            try database.execute(
                """
                DELETE FROM session_client.upload_chunk AS c
                 WHERE c.account = \(account) AND c.hash = \(hash)
                   AND c.number IN (SELECT k.number FROM session_client.upload_chunk AS k
                                     WHERE k.account = \(account) AND k.hash = \(hash) LIMIT \(Self.piece))
                """)
        }) == Self.piece {}
        _ = try await pool.withConnection { database in
            try database.execute(
                """
                DELETE FROM session_client.upload AS u
                 WHERE u.account = \(account) AND u.hash = \(hash)
                   AND NOT EXISTS (SELECT FROM session_client.upload_chunk AS c
                                    WHERE c.account = u.account AND c.hash = u.hash)
                """)
        }
    }
}
