import ContactsContract
import NotificationsContract
import SessionContract
import Vocabulary

/// Closes an account for ever, with everything that each owner has of it.
///
/// `session` decides: from then on no token is good, and what arrives later is rejected. Then contacts ends the relations on
/// both sides and tells the others, and notifications deletes the history. Each owner has its own logs emptied; session-client
/// does the same with what was asked, once nobody has to handle it any more. A row in `closure` remains.
struct CloseAccountOperation: Saga {
    static let type = "CloseAccount"

    /// The device that asks.
    let by: DeviceID

    /// What came of it.
    struct Result: Encodable, Sendable {
        let account: AccountID
    }

    func run(_ run: SagaRun) async throws -> Result {
        _ = try await run.decide("session", SessionContract.CloseAccount(by: by), of: .session, for: run.account)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await run.demand("contacts", ContactsContract.CloseAccount(), of: .contacts, for: run.account)
            }
            group.addTask {
                try await run.demand(
                    "notifications", NotificationsContract.CloseAccount(), of: .notifications, for: run.account)
            }
            try await group.waitForAll()
        }
        try await run.reportClosure()
        return Result(account: run.account)
    }
}
