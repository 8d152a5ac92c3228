package import API
import ContactsContract
import Vocabulary

/// Answers every ping that waits for the account, tells those who sent them, and clears the account's notifications of
/// them. All of it or nothing, once. Unlike ``ClearAllReceivedPingsSaga`` it writes no summary.
///
/// `respond` decides; what follows is repeated until it is done.
package struct RespondToAllPingsSaga: Saga {
    package static let type = RespondToAllPingsRequest.type

    package init() {}

    package func run(_ steps: some SagaSteps) async throws -> RespondToAllPingsRequest.Result {
        let event = try await steps.decide("respond", RespondToAllPings(), of: .contacts, for: steps.account)
        guard let event, let cleared = try ReceivedPingsCleared(in: event) else { return .init(contacts: []) }
        try await steps.tellAnswered(cleared, by: "respond")
        return .init(contacts: cleared.contacts)
    }
}
