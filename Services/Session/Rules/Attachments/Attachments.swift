import QuartetSessionContract
import QuartetVocabulary

// Attachments of group sessions. The rules see sizes and hashes; the tables copy the bytes.

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: AttachmentCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .beginAttachment(let command): try begin(&rows, command, context)
        case .adoptChunks(let command): try adopt(&rows, command, context)
        case .completeAttachment(let command): try complete(&rows, command, context)
        case .removeAttachment(let command): try remove(&rows, command, context)
        }
    }

    private static func begin(
        _ rows: inout SessionRows, _ command: BeginAttachment, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let others = rows.groups.attachments(of: command.group)
        guard !others.contains(where: { $0.key.hash == command.attachment && $0.row.completed != nil }) else {
            throw .attachmentExists
        }
        let key = AttachmentKey(command.group, account, command.attachment)
        if let begun = rows.groups.attachments[key] {
            guard begun.size == command.size else {
                throw Rejection(.invalidField, "You began this attachment with \(begun.size) bytes.", field: "size")
            }
            rows.groups.attachments[key]?.renewed = context.time
            return []
        }
        guard others.count < rows.limits.attachments else {
            throw Rejection(
                .tooManyAttachments,
                "This session has \(others.count) attachments, as many as it takes; remove one first.")
        }
        let freeInGroup = rows.limits.attachmentsOfGroup - others.map(\.row.size).reduce(0, +)
        guard command.size <= freeInGroup else { throw .groupStorageFull(free: max(0, freeInGroup)) }
        let own = rows.groups.attachments.keys.filter { $0.account == account }
        let freeForAccount =
            rows.limits.attachmentsOfAccount - own.compactMap { rows.groups.attachments[$0]?.size }.reduce(0, +)
        guard command.size <= freeForAccount else { throw .accountStorageFull(free: max(0, freeForAccount)) }
        rows.groups.attachments[key] = AttachmentRow(
            content: ContentID(context.commandID), size: command.size, renewed: context.time)
        return []
    }

    private static func adopt(
        _ rows: inout SessionRows, _ command: AdoptChunks, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (key, row) = try begun(command.attachment, in: command.group, rows, context)
        guard row.completed == nil else { return [] }
        let count = AttachmentRules.chunks(in: row.size)
        guard command.numbers.upperBound <= count else {
            throw Rejection(.invalidField, "This attachment has \(count) chunks; adopt no more.", field: "count")
        }
        var adopted: [(key: ChunkKey, hash: ChunkHash)] = []
        for number in command.numbers {
            let chunk = ChunkKey(row.content, number)
            guard rows.groups.chunks[chunk] == nil else { continue }
            guard let uploaded = rows.uploadedChunks[UploadedChunkKey(key.upload, number)] else {
                throw .chunkMissing(number)
            }
            let size = AttachmentRules.size(ofChunk: number, of: row.size)
            guard uploaded.size == size else { throw .wrongChunkSize(number, uploaded.size, expected: size) }
            adopted.append((chunk, uploaded.hash))
        }
        for (chunk, hash) in adopted { rows.groups.chunks[chunk] = hash }
        rows.groups.attachments[key]?.renewed = context.time
        return []
    }

    private static func complete(
        _ rows: inout SessionRows, _ command: CompleteAttachment, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (key, row) = try begun(command.attachment, in: command.group, rows, context)
        guard row.completed == nil else { return [] }
        let isThere = rows.groups.attachments(of: command.group).contains {
            $0.key.hash == command.attachment && $0.row.completed != nil
        }
        guard !isThere else { throw .attachmentExists }
        let count = AttachmentRules.chunks(in: row.size)
        guard command.chunks == count else {
            throw Rejection(.invalidField, "So many bytes have \(count) chunks.", field: "chunks")
        }
        var hashes: [ChunkHash] = []
        for number in 0..<count {
            guard let hash = rows.groups.chunks[ChunkKey(row.content, number)] else { throw .chunkMissing(number) }
            hashes.append(hash)
        }
        guard ContentHash(of: hashes) == command.attachment else { throw .contentMismatch }
        rows.groups.attachments[key]?.completed = context.time
        rows.groups.attachmentDescriptions[key] = AttachmentDescription(
            name: command.name, contentType: command.contentType, metadata: command.metadata)
        return [
            .attachment(
                .attachmentAdded(
                    .init(
                        group: command.group, account: key.account, attachment: command.attachment, name: command.name,
                        contentType: command.contentType, size: row.size, metadata: command.metadata,
                        at: context.time)))
        ]
    }

    private static func remove(
        _ rows: inout SessionRows, _ command: RemoveAttachment, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, session, _) = try participant(of: command.group, rows, context)
        let found = rows.groups.attachments(of: command.group).filter { $0.key.hash == command.attachment }
        if let complete = found.first(where: { $0.row.completed != nil }) {
            guard complete.key.account == account || session.host == account else { throw .notHost(session.host) }
            rows.groups.forget(complete.key)
            return [
                .attachment(
                    .attachmentRemoved(
                        .init(
                            group: command.group, account: complete.key.account, attachment: command.attachment,
                            by: account, at: context.time)))
            ]
        }
        guard let own = found.first(where: { $0.key.account == account }) else { throw .attachmentNotFound }
        rows.groups.forget(own.key)
        return []
    }

    /// An attachment that the asker began. Nobody learns here what others are uploading.
    private static func begun(
        _ attachment: ContentHash, in group: GroupID, _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (key: AttachmentKey, row: AttachmentRow) {
        let (account, _, _) = try participant(of: group, rows, context)
        let key = AttachmentKey(group, account, attachment)
        guard let row = rows.groups.attachments[key] else { throw .attachmentNotFound }
        return (key, row)
    }
}

extension SessionRows.Selection {
    /// Adopted chunks that are needed, and whether uploaded ones are as well.
    package struct Chunks: Hashable, Sendable {
        package let attachment: AttachmentKey
        package let numbers: Range<Int>
        package let isAdopting: Bool
    }

    mutating func add(_ command: AttachmentCommand, of asker: AccountID?) {
        switch command {
        case .beginAttachment(let command):
            groups.insert(command.group)
            attaching.insert(command.group)
            // The lock on the account keeps its room from being given away twice, in two sessions.
            if let asker {
                accounts.insert(asker)
                uploaders.insert(asker)
            }
        case .adoptChunks(let command):
            add(command.attachment, to: command.group, of: asker, command.numbers, isAdopting: true)
        case .completeAttachment(let command):
            add(command.attachment, to: command.group, of: asker, 0..<command.chunks, isAdopting: false)
        case .removeAttachment(let command):
            groups.insert(command.group)
            attaching.insert(command.group)
        }
    }

    private mutating func add(
        _ attachment: ContentHash, to group: GroupID, of asker: AccountID?, _ numbers: Range<Int>, isAdopting: Bool
    ) {
        groups.insert(group)
        attaching.insert(group)
        guard let asker else { return }
        chunks.insert(
            Chunks(attachment: AttachmentKey(group, asker, attachment), numbers: numbers, isAdopting: isAdopting))
    }
}
