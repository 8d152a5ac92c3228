import Bus
import ContractSupport
import HTTPTypes
import Hummingbird
import SessionContract
import Vocabulary

/// Recovery codes, and taking back what somebody did who took the account over.
struct Recovery: Sendable {
    let services: ServiceConnections
    let codes: RecoveryCodes
    let tokens: Tokens

    private struct UndoRequest: MessageBody {
        let refreshToken: String
        let since: Instant?
    }

    private struct Made: Encodable {
        let recoveryCodes: [String]
    }

    private struct Undone: Encodable {
        let account: AccountID
        let changes: [SecurityChangeKind]
        let since: Instant
        let at: Instant
    }

    // MARK: POST /v1/recovery-codes

    /// The only answer that ever has them; the same request within a day gets it again.
    func make(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        _ = try Nothing.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        try key.requireRecent()
        let made = codes.make(for: caller.account, sentAs: key)
        let command = MakeRecoveryCodes(
            proofs: try made.map { text throws(Rejection) in try RecoveryCodes.proof(text) }, by: caller.device)
        try command.validate()
        _ = try await services.ask(
            .session, command, id: key.derive("recovery-codes", caller.account.bytes), key: .account(caller.account),
            account: caller.account, sentAs: key, context)
        return try .json(Made(recoveryCodes: made), status: .created)
    }

    // MARK: POST /v1/undo

    func undo(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try UndoRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let refresh = try tokens.refresh(from: body.refreshToken)
        let command = UndoSecurityChanges(
            device: refresh.device, token: try tokens.secret(of: refresh), since: body.since)
        let event: CausedEvent?
        do {
            event = try await services.ask(
                .session, command, id: key.derive("undo", refresh.account.bytes), key: .account(refresh.account),
                account: refresh.account, sentAs: key, context)
        } catch let rejection as Rejection {
            throw rejection.naming(["device": "refreshToken", "token": "refreshToken"])
        }
        guard let event else { throw Problem(.internalServerError, "internal", "nothing was said of the undo") }
        let undone = try SecurityChangesUndone.decoded(from: event.body)
        return try .json(
            Undone(account: undone.account, changes: undone.changes, since: undone.since, at: undone.at))
    }
}
