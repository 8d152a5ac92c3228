import ContractSupport
import SessionContract
import Vocabulary

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: AccountCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .updateProfile(let command):
            let (account, row) = try asker(rows, context)
            return try updateProfile(&rows, command, account, row, context.time)
        case .closeAccount(let command):
            let (account, row) = try knownAsker(rows, context)
            return try close(&rows, command, account, row, context.time)
        case .freeHandle(let command): return try freeHandle(&rows, command, context.time)
        }
    }

    private static func updateProfile(
        _ rows: inout SessionRows, _ command: UpdateProfile, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard row.profileVersion == command.expectedVersion else {
            throw .staleVersion(expected: command.expectedVersion, current: row.profileVersion)
        }
        var changed = row
        if let name = command.name { changed.name = try PersonName(name).description }
        changed.emergencyNote = command.emergencyNote ?? row.emergencyNote
        guard changed != row else { return [] }
        changed.profileVersion += 1
        rows[account] = changed
        return [
            .profileUpdated(
                .init(
                    account: account, name: changed.name, emergencyNote: changed.emergencyNote,
                    version: changed.profileVersion, at: time))
        ]
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: AccountCommand, of account: AccountID) {
        switch command {
        case .updateProfile, .freeHandle: break
        case .closeAccount:
            securing.insert(account)
            coding.insert(account)
        }
    }
}
