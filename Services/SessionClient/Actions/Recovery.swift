import Bus
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Recovery codes, and undoing what a thief changed.
struct Recovery: Sendable {
    let services: ServiceConnections
    let codes: RecoveryCodes
    let tokens: Tokens

    /// The only reply that ever has them; the same request within a day gets it again.
    func makeCodes(
        _ request: RecoveryCodesRequest, by caller: Caller, _ call: Call
    ) async throws -> RecoveryCodesReply {
        try call.key.requireRecent(at: call.arrival)
        let made = codes.make(for: caller.account, sentAs: call.key)
        let command = MakeRecoveryCodes(
            proofs: try made.map { text throws(Rejection) in try RecoveryCodes.proof(text) }, by: caller.device)
        _ = try await services.ask(.session, command, as: "recovery-codes", by: caller.account, call)
        return RecoveryCodesReply(recoveryCodes: made)
    }

    func undo(_ request: UndoRequest, _ call: Call) async throws -> UndoReply {
        let refresh = try tokens.refresh(from: request.refreshToken)
        let command = UndoSecurityChanges(
            device: refresh.device, token: try tokens.secret(of: refresh), since: request.since)
        let event = try await services.ask(
            .session, command, as: "undo", by: refresh.account, call,
            naming: ["device": "refreshToken", "token": "refreshToken"])
        guard let event else { throw APIError(.internal, "The undo has no result.") }
        return UndoReply(try SecurityChangesUndone.decoded(from: event.body))
    }
}
