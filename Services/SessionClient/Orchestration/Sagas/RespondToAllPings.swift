import ContactsContract
import Vocabulary

/// Answers every ping that waits for me, tells those who sent them, and clears my notifications of them. All of it or
/// nothing, once. Unlike ``ClearAllReceivedPings`` it writes no summary.
///
/// `respond` decides; what follows is told until it is done.
struct RespondToAllPingsOperation: Saga {
    static let type = "RespondToAllPings"

    /// What came of it.
    struct Result: Encodable, Sendable {
        /// Who had pinged me and has an answer now.
        let contacts: [AccountID]
    }

    func run(_ run: SagaRun) async throws -> Result {
        let event = try await run.decide("respond", RespondToAllPings(), of: .contacts, for: run.account)
        guard let event, let cleared = try ReceivedPingsCleared(in: event) else { return Result(contacts: []) }
        try await run.tellAnswered(cleared, by: "respond")
        return Result(contacts: cleared.contacts)
    }
}
