import Bus
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Requests that take the password once more, or a recovery code: confirmations and new passwords.
struct Confirmations: Sendable {
    let services: ServiceConnections
    let passwords: Passwords
    let handles: Handles
    let guesses: Guesses

    func confirm(_ request: ConfirmRequest, by caller: Caller, _ call: Call) async throws -> IdentityConfirmed {
        switch (request.password, request.recoveryCode) {
        case (let password?, nil):
            let handle = try await self.handle(of: caller.account)
            return try await guesses.watch(call.address) {
                let verifier = try await passwords.verifiers(
                    of: password, for: handle, from: call.address, isSignedIn: true)
                return try await confirm(
                    ConfirmIdentity(verifier: verifier, device: caller.device), by: caller, call,
                    orElse: Self.wrongPassword)
            }
        case (nil, let code?):
            let proof = try RecoveryCodes.proof(code)
            return try await guesses.watch(call.address) {
                try await confirm(
                    ConfirmByRecoveryCode(proof: proof, device: caller.device), by: caller, call,
                    orElse: Self.wrongCode)
            }
        default:
            throw APIError(
                .malformed, "Give either the password or a recovery code.",
                field: request.password == nil ? "password" : "recoveryCode")
        }
    }

    /// - Throws: `refusal` for what isn't right. It is accepted, because it is counted.
    private func confirm(
        _ command: some CommandBody, by caller: Caller, _ call: Call, orElse refusal: APIError
    ) async throws -> IdentityConfirmed {
        let event = try await services.ask(.session, command, as: "confirm", by: caller.account, call)
        guard let event, event.type == IdentityConfirmed.type else { throw refusal }
        return try IdentityConfirmed.decoded(from: event.body)
    }

    func changePassword(_ request: ChangePasswordRequest, by caller: Caller, _ call: Call) async throws {
        let handle = try await self.handle(of: caller.account)
        try Passwords.check(new: request.newPassword, for: handle, field: "newPassword")
        try await guesses.watch(call.address) {
            let next = try await passwords.verifier(
                of: request.newPassword, for: handle, from: call.address, isSignedIn: true, field: "newPassword")
            let command = ChangePassword(
                verifier: try await passwords.verifiers(
                    of: request.password, for: handle, from: call.address, isSignedIn: true), next: next,
                by: caller.device)
            let event = try await services.ask(
                .session, command, as: "change-password", by: caller.account, call, naming: ["next": "newPassword"])
            guard let event, event.type == PasswordChanged.type else { throw Self.wrongPassword }
        }
    }

    /// For people who forgot the present password and proved otherwise who they are: by a code, or a moment ago.
    func resetPassword(_ request: ResetPasswordRequest, by caller: Caller, _ call: Call) async throws {
        let handle = try await self.handle(of: caller.account)
        try Passwords.check(new: request.newPassword, for: handle, field: "newPassword")
        let command = ResetPassword(
            next: try await passwords.verifier(
                of: request.newPassword, for: handle, from: call.address, isSignedIn: true, field: "newPassword"),
            by: caller.device)
        _ = try await services.ask(.session, command, as: "reset-password", by: caller.account, call)
    }

    /// Not 401: the token is good, so getting another one would be no help.
    private static let wrongPassword = APIError(
        .wrongConfirmation, "This isn't the account's password.", field: "password")
    private static let wrongCode = APIError(
        .wrongConfirmation, "This isn't one of the account's recovery codes, or it was used.", field: "recoveryCode")

    private func handle(of account: AccountID) async throws -> Handle {
        guard let handle = try await handles.handle(of: account) else {
            throw APIError(.accountClosed, "This account is closed.")
        }
        return handle
    }
}
