import ContractSupport
import SessionContract
import Vocabulary

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
        guard let upload = rows.uploads[UploadPlace(account, command.avatar.hash)] else {
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
    }

    static func removeAvatar(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) -> [SessionEvent] {
        guard row.avatar != nil else { return [] }
        rows[account]?.avatar = nil
        return [.avatarRemoved(.init(account: account, at: time))]
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: AvatarCommand, of account: AccountID) {
        switch command {
        case .setAvatar(let command): uploads.insert(UploadPlace(account, command.avatar.hash))
        case .removeAvatar: break
        }
    }
}
