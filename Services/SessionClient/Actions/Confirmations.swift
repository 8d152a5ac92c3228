import Bus
import ContractSupport
import HTTPTypes
import Hummingbird
import Postgres
import SessionContract
import Vocabulary

/// What takes the password once more, or a recovery code: a confirmation, and another password.
struct Confirmations: Sendable {
    let services: ServiceConnections
    let passwords: Passwords
    let handles: Handles
    let guesses: Guesses

    /// One of the two.
    private struct ConfirmRequest: MessageBody {
        let password: String?
        let recoveryCode: String?
    }

    private struct PasswordRequest: MessageBody {
        let password: String
        let newPassword: String
    }

    private struct ResetRequest: MessageBody {
        let newPassword: String
    }

    // MARK: POST /v1/confirm

    func confirm(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try ConfirmRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        switch (body.password, body.recoveryCode) {
        case (let password?, nil):
            let handle = try await self.handle(of: caller.account)
            let address = guesses.addresses.address(of: request, context)
            return try await guesses.watch(request, context) {
                let verifier = try await passwords.verifiers(
                    of: password, for: handle, from: address, isSignedIn: true)
                return try await confirm(
                    ConfirmIdentity(verifier: verifier, device: caller.device), caller, key, context,
                    orElse: Self.wrongPassword)
            }
        case (nil, let code?):
            let proof = try RecoveryCodes.proof(code)
            return try await guesses.watch(request, context) {
                try await confirm(
                    ConfirmByRecoveryCode(proof: proof, device: caller.device), caller, key, context,
                    orElse: Self.wrongCode)
            }
        default:
            throw Problem(
                .badRequest, "malformed", "give the password or a recovery code, one of them",
                field: body.password == nil ? "password" : "recoveryCode")
        }
    }

    /// Asks for a confirmation.
    /// - Throws: `problem` for what isn't right. It is accepted, because it is counted.
    private func confirm(
        _ command: some CommandBody, _ caller: Caller, _ key: IdempotencyKey, _ context: EdgeContext,
        orElse problem: Problem
    ) async throws -> Response {
        let event = try await services.ask(
            .session, command, id: key.derive("confirm", caller.account.bytes), key: .account(caller.account),
            account: caller.account, sentAs: key, context)
        guard let event, event.type == IdentityConfirmed.type else { throw problem }
        return .json(String(decoding: event.body, as: UTF8.self))
    }

    // MARK: POST /v1/change-password

    func changePassword(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try PasswordRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let handle = try await self.handle(of: caller.account)
        let address = guesses.addresses.address(of: request, context)
        try Passwords.check(new: body.newPassword, for: handle, field: "newPassword")
        return try await guesses.watch(request, context) {
            let next = try await passwords.verifier(
                of: body.newPassword, for: handle, from: address, isSignedIn: true, field: "newPassword")
            let command = ChangePassword(
                verifier: try await passwords.verifiers(
                    of: body.password, for: handle, from: address, isSignedIn: true), next: next,
                by: caller.device)
            let event: CausedEvent?
            do {
                event = try await services.ask(
                    .session, command, id: key.derive("change-password", caller.account.bytes),
                    key: .account(caller.account), account: caller.account, sentAs: key, context)
            } catch let rejection as Rejection {
                throw rejection.naming(["next": "newPassword"])
            }
            guard let event, event.type == PasswordChanged.type else { throw Self.wrongPassword }
            return Response(status: .noContent)
        }
    }

    // MARK: POST /v1/reset-password

    /// For who forgot the present one and proved otherwise who they are: by a code, or a moment ago.
    func resetPassword(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try ResetRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let handle = try await self.handle(of: caller.account)
        try Passwords.check(new: body.newPassword, for: handle, field: "newPassword")
        let command = ResetPassword(
            next: try await passwords.verifier(
                of: body.newPassword, for: handle, from: guesses.addresses.address(of: request, context),
                isSignedIn: true, field: "newPassword"),
            by: caller.device)
        _ = try await services.ask(
            .session, command, id: key.derive("reset-password", caller.account.bytes), key: .account(caller.account),
            account: caller.account, sentAs: key, context)
        return Response(status: .noContent)
    }

    /// Not 401: the token is good, so getting another one would be no help.
    private static let wrongPassword = Problem(
        .forbidden, "invalidCredentials", "this isn't the account's password", field: "password")
    private static let wrongCode = Problem(
        .forbidden, "invalidCredentials", "this is none of the account's recovery codes, or it was used",
        field: "recoveryCode")

    private func handle(of account: AccountID) async throws -> Handle {
        guard let handle = try await handles.handle(of: account) else {
            throw Problem(.gone, "accountClosed", "this account is closed")
        }
        return handle
    }
}
