package import QuartetAPI
import QuartetContactsContract
import QuartetVocabulary

/// Answers every ping that waits for the account, tells those who sent them, and clears the account's notifications of
/// them. All of it or nothing, once. Unlike ``ClearAllReceivedPingsSaga`` it writes no summary.
///
/// `respond` decides; what follows is repeated until it is done. If more pings wait than one command answers, that
/// includes the others.
package struct RespondToAllPingsSaga: Saga {
    package static let type = RespondToAllPingsRequest.type

    let upTo: Instant?

    package init(_ request: RespondToAllPingsRequest) {
        upTo = request.upTo
    }

    package func run(_ steps: some SagaSteps) async throws -> RespondToAllPingsRequest.Result {
        let answered = try await steps.answerPings("respond", RespondToAllPings(upTo: upTo))
        if let cleared = answered.first { try await steps.tellAnswered(cleared, by: "respond") }
        return .init(contacts: answered.flatMap(\.contacts))
    }
}
