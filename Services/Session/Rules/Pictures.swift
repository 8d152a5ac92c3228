import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// An account can claim only its own uploads.
package struct UploadKey: Hashable, Sendable {
    package let account: AccountID
    package let hash: ContentHash

    package init(_ account: AccountID, _ hash: ContentHash) {
        self.account = account
        self.hash = hash
    }
}

/// What the rules need to know about an upload.
package struct Upload: Hashable, Sendable {
    /// In bytes.
    package let size: Int
    /// As recognised by the first bytes.
    package let type: ImageType?

    package init(size: Int, type: ImageType?) {
        self.size = size
        self.type = type
    }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: AvatarCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, row) = try asker(rows, context)
        return switch command {
        case .setAvatar(let command): try setAvatar(&rows, command, account, row, context.time)
        case .removeAvatar: removeAvatar(&rows, account, row, context.time)
        }
    }

    static func setAvatar(
        _ rows: inout SessionRows, _ command: SetAvatar, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard row.avatar != command.avatar else { return [] }
        guard let upload = rows.uploads[UploadKey(account, command.avatar.hash)] else {
            throw Rejection(.notFound, "The uploaded picture is gone; upload it again.", field: "avatar.hash")
        }
        guard upload.size == command.avatar.size else {
            throw Rejection(
                .invalidField, "The picture has \(upload.size) bytes, not \(command.avatar.size).",
                field: "avatar.size")
        }
        guard upload.type == command.avatar.type else {
            throw Rejection(
                .invalidField, "The picture isn't of the given type; send a PNG or a JPEG with its type.",
                field: "avatar.type")
        }
        rows[account]?.avatar = command.avatar
        return [.avatarSet(.init(account: account, avatar: command.avatar, at: time))]
            + updateParticipant(&rows, account, time)
    }

    static func removeAvatar(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) -> [SessionEvent] {
        guard row.avatar != nil else { return [] }
        rows[account]?.avatar = nil
        return [.avatarRemoved(.init(account: account, at: time))] + updateParticipant(&rows, account, time)
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: AvatarCommand, of account: AccountID) {
        followed.insert(account)
        switch command {
        case .setAvatar(let command): uploads.insert(UploadKey(account, command.avatar.hash))
        case .removeAvatar: break
        }
    }
}
