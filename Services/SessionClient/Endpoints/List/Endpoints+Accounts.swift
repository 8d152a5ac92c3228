import QuartetAPI

extension Endpoint {
    /// Signing up and in, and what protects an account.
    @ListBuilder<Endpoint> static var accounts: [Endpoint] {
        open(
            "SignUp", .post, "/v1/sign-up", "Makes an account, and signs this device in.",
            // Whether a code can be sent to the phone is nothing that it fails by.
            refusals: [.handleTaken, .commonPassword, .tooManySignUps, .signedOut]
        ) { actions, body, call in Created(try await actions.signingUp.signUp(body, call)) }
        open(
            "SignIn", .post, "/v1/sign-in",
            "Signs this device in: by handle and password, by handle and recovery code, or by phone and code.",
            refusals: [.invalidCredentials, .tooManyAttempts, .signedOut]
        ) { actions, body, call in OK(try await actions.signingIn.signIn(body, call)) }
        open(
            "RequestSignInCode", .post, "/v1/sign-in/codes",
            "Sends a code to a phone, if an account has it. The answer is the same if none has.",
            refusals: [.phoneCodesOff, .tooManyCodes, .tooManyAttempts, .tooSoon],
            // A key and a phone are all that there is of it.
            impossible: [.idReused]
        ) { actions, body, call in OK(try await actions.phones.requestSignIn(body, call)) }
        open(
            "RefreshToken", .post, "/v1/token", "Exchanges a refresh token, once.",
            refusals: [.invalidToken, .tokenReused, .signedOut, .deviceSignedOut]
        ) { actions, body, call in OK(try await actions.sessions.refresh(body, call)) }
        open(
            "Undo", .post, "/v1/undo",
            "Undoes what another device changed after it signed this one out: password, phone, settings, recovery codes.",
            refusals: [.invalidToken, .nothingToUndo, .deviceSignedOut],
            // It is sent to session without a look at the database.
            impossible: [.databaseUnavailable, .internal]
        ) { actions, body, call in OK(try await actions.recovery.undo(body, call)) }

        signedIn(
            "SignOut", .post, "/v1/sign-out", "Signs this device out, another one, or all.",
            sending: SignOutRequest.self, refusals: [.notFound, .confirmationRequired]
        ) { actions, body, request in
            SignedOut(operation: try await actions.sessions.signOut(body, by: request.caller, request.call))
        }
        signedIn(
            "Confirm", .post, "/v1/confirm",
            "Confirms by the password or a recovery code that the account's owner asks. It is good for five minutes.",
            sending: ConfirmRequest.self, refusals: [.wrongConfirmation, .tooManyAttempts, .deviceSignedOut]
        ) { actions, body, request in
            OK(try await actions.confirmations.confirm(body, by: request.caller, request.call))
        }
        signedIn(
            "ChangePassword", .post, "/v1/change-password", "Changes the password, and signs other devices out.",
            sending: ChangePasswordRequest.self,
            refusals: [.wrongConfirmation, .commonPassword, .samePassword, .tooManyAttempts, .deviceSignedOut]
        ) { actions, body, request in
            try await actions.confirmations.changePassword(body, by: request.caller, request.call)
            return NoContent()
        }
        signedIn(
            "ResetPassword", .post, "/v1/reset-password",
            "Sets a new password without the current one, after a confirmation, and signs other devices out.",
            sending: ResetPasswordRequest.self,
            refusals: [.confirmationRequired, .commonPassword, .tooManyAttempts]
        ) { actions, body, request in
            try await actions.confirmations.resetPassword(body, by: request.caller, request.call)
            return NoContent()
        }
        signedIn(
            "MakeRecoveryCodes", .post, "/v1/recovery-codes", "Makes ten recovery codes; earlier ones become void.",
            sending: RecoveryCodesRequest.self, refusals: [.confirmationRequired, .tooManyAttempts]
        ) { actions, body, request in
            Created(try await actions.recovery.makeCodes(body, by: request.caller, request.call))
        }
        signedIn(
            "ChangePhone", .post, "/v1/phone", "Sends a code to a phone that is to be the account's.",
            sending: ChangePhoneRequest.self,
            refusals: [
                .confirmationRequired, .phoneCodesOff, .codeNotSent, .tooManyCodes, .tooManyAttempts, .tooSoon,
            ]
        ) { actions, body, request in OK(try await actions.phones.change(body, by: request.caller, request.call)) }
        signedIn(
            "VerifyPhone", .post, "/v1/phone/verification", "Makes a phone the account's, by the code that it got.",
            sending: VerifyPhoneRequest.self,
            refusals: [.invalidCode, .phoneTaken, .tooManyAttempts]
        ) { actions, body, request in OK(try await actions.phones.verify(body, by: request.caller, request.call)) }
        signedIn(
            "ExtendStream", .post, "/v1/stream/token", "Lets a stream go on until the token of this request ends.",
            sending: StreamTokenRequest.self, refusals: [.streamNotFound], isDecided: false
        ) { actions, body, request in
            OK(
                StreamTokenReply(
                    expiresIn: try await actions.streams.extensions.present(body.stream, by: request.caller)))
        }
        signedIn("RemoveAvatar", .delete, "/v1/account/avatar", "Removes the caller's picture.") { actions, request in
            try await actions.avatars.remove(by: request.caller, request.call)
            return NoContent()
        }
    }
}
