package import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
package import QuartetSessionContract
import QuartetVocabulary

/// Closes an account forever and deletes what each owner keeps of it.
///
/// `session` decides: from then on no token is good, and what arrives later is rejected. Then contacts ends the relations on
/// both sides and tells the others, and notifications deletes the history. Each owner has its own logs emptied; session-client
/// does the same with its commands, once they are handled. The account's other sagas end, whatever they still wait for: no
/// owner does anything for it any more. A row in `closure` remains.
package struct CloseAccountSaga: Saga {
    package static let type = CloseAccountRequest.type

    /// The device that asks.
    let by: DeviceID

    package init(by device: DeviceID) {
        by = device
    }

    package func run(_ steps: some SagaSteps) async throws -> CloseAccountRequest.Result {
        let account = steps.account
        _ = try await steps.decide("session", QuartetSessionContract.CloseAccount(by: by), of: .session, for: account)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await steps.demand("contacts", QuartetContactsContract.CloseAccount(), of: .contacts, for: account)
            }
            group.addTask {
                try await steps.demand(
                    "notifications", QuartetNotificationsContract.CloseAccount(), of: .notifications, for: account)
            }
            try await group.waitForAll()
        }
        try await steps.reportClosure()
        return .init(account: account)
    }
}
