extension APIError {
    /// Every code that a refusal can have. Lower camel case, and stable.
    ///
    /// Some are also codes of a service's rejections: those that its contract names.
    public enum Code: String, CaseIterable, Codable, Sendable {
        case noOutcomeYet
        case badRequest, malformed, malformedBody, incompleteBody, invalidIdempotencyKey, idTooOld, malformedEventID,
            invalidParameter, invalidID, invalidCursor
        case missingToken, invalidToken, signedOut, deviceSignedOut, invalidCredentials, tokenReused
        case confirmationRequired, wrongConfirmation, keyMayOnlyRead
        case notHost, notParticipant, removedFromGroup
        case notFound, notContact, unknownCommand, unknownOperation, methodNotAllowed
        case groupNotFound, participantNotFound, seatNotFound, itemNotFound, attachmentNotFound
        case tooSlow, bodyTooLarge, pictureTooLarge, messageTooLarge, notJSON, notAPicture, rangeNotSatisfiable
        case upgradeRequired, urlTooLong, streamNotFound
        case staleVersion, handleTaken, phoneTaken, samePassword, alreadyContact, alreadyRequested, yourself, blocked,
            notDependent, pingsOff, consentRequired, requestChanged, nothingToUndo, limitReached, codeTaken, notDue,
            accountNotFound, accountExists, accountRequired, accountClosed
        case alreadyInSession, needsProfile, tooManyGroups, groupFull, groupExists, groupEnded, hostChanged,
            edgeNotFound
        case seatTaken, alreadySeated, notSeated, noSeatTaken, gameRunning, gameNotRunning, notYourTurn
        case itemChanged, notReady, groupTooLarge
        case alertChanged, checkInDue, tripOn, tripMissed, alarmOn, deadlineNear, noResponder
        case alreadyDecided
        case attachmentExists, tooManyAttachments, accountStorageFull, groupStorageFull, chunkMissing, uploadsFull
        case invalidField, invalidCode, commonPassword, tooManyPixels, roleRequired, idReused, refused,
            digestMismatch, contentMismatch, wrongChunkSize
        case tooSoon, tooManyAttempts, tooManyLookUps, tooManySignUps, tooManyCodes, tooManyStreams, tooManyUploads,
            tooManyCommands, tooManySignals, tooManyRequests, tooManyDownloads
        case truncated
        case tooManyConnections, tooManyReads, tooManyOperations, serverStopping
        case failed, `internal`, phoneCodesOff, overloaded, databaseUnavailable, codeNotSent, expired, queryTooSlow
    }

    /// Whether and how a program may send the request again without asking a person.
    public enum Retry: String, CaseIterable, Codable, Sendable {
        /// It is decided. It must say something else first, or a person must want it again.
        case no
        /// After a pause, the same request under the same Idempotency-Key.
        case sameKey
        /// After a pause, the same request under a new Idempotency-Key: the old one has its answer.
        case newKey
        /// With a new access token, which the refresh token gives.
        case refreshed
    }

    /// A status of gRPC (https://grpc.io/docs/guides/status-codes/).
    public enum GRPCStatus: Int, Sendable {
        case unknown = 2
        case invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied, resourceExhausted,
            failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable, dataLoss, unauthenticated
    }
}

extension APIError {
    /// What becomes of a change that a device keeps, after an answer.
    public enum Verdict: Hashable, Sendable {
        /// It is decided: the change is taken back with this refusal.
        case ends
        /// It is sent again under the same Idempotency-Key, since it may have had its effect.
        case staysUnderItsKey
        /// It never happened. It is sent again under a new Idempotency-Key while it is worth sending.
        case staysUnderNewKey
    }

    /// What becomes of a kept change that is answered with this.
    public var verdict: Verdict {
        // These are about the device's token and the app's version, which others may change; not about the change.
        if [401, 426].contains(unknownCode?.status ?? code.httpStatus) { return .staysUnderItsKey }
        return switch retry {
        case .no: .ends
        case .sameKey, .refreshed: .staysUnderItsKey
        // Other codes of which this is true are for their person to decide.
        case .newKey: unknownCode != nil || Self.sentAgain.contains(code) ? .staysUnderNewKey : .ends
        }
    }

    private static let sentAgain: Set<Code> = [.idTooOld, .accountNotFound, .hostChanged, .failed, .expired]

    /// Whether and how the same may be sent again. Of a code that this release doesn't know, the server says so, or else the
    /// status: what may pass doesn't end anything.
    public var retry: Retry {
        guard let unknownCode else { return code.retry }
        let isFinal =
            (400..<500).contains(unknownCode.status) && ![401, 408, 425, 426, 429].contains(unknownCode.status)
        return unknownCode.retry ?? (isFinal ? .no : .sameKey)
    }
}

extension APIError.Code {
    /// The status over HTTP (RFC 9110).
    public var httpStatus: Int { meaning.http }
    public var grpcStatus: APIError.GRPCStatus { meaning.grpc }
    public var retry: APIError.Retry { meaning.retry }
    /// What to say to a person when nothing more is known.
    public var sentence: String { meaning.sentence }

    private typealias Meaning = (http: Int, grpc: APIError.GRPCStatus, retry: APIError.Retry, sentence: String)

    private var meaning: Meaning {
        switch self {
        case .noOutcomeYet:
            (202, .unavailable, .sameKey, "It isn't decided yet; repeat the request with the same Idempotency-Key.")

        case .badRequest: (400, .invalidArgument, .no, "The API doesn't know this request.")
        case .malformed: (400, .invalidArgument, .no, "A field is missing, unknown or of the wrong type.")
        case .malformedBody: (400, .invalidArgument, .no, "The body can't be read.")
        case .incompleteBody: (400, .invalidArgument, .sameKey, "The body was incomplete; send it again.")
        case .invalidIdempotencyKey:
            (
                400, .invalidArgument, .no,
                "Idempotency-Key must be a UUID of version 7 (RFC 9562); leave it out if you won't repeat the request."
            )
        case .idTooOld: (400, .invalidArgument, .newKey, "This Idempotency-Key is too old; use a new one.")
        case .malformedEventID:
            (
                400, .invalidArgument, .no,
                "Last-Event-ID must be the id of an event of this stream; leave it out to start from a snapshot."
            )
        case .invalidParameter: (400, .invalidArgument, .no, "A parameter has an invalid value.")
        case .invalidID: (400, .invalidArgument, .no, "The id in the path must be a UUID.")
        case .invalidCursor: (400, .invalidArgument, .no, "The cursor must be the `next` of an earlier page.")

        case .missingToken: (401, .unauthenticated, .refreshed, "Send the header Authorization: Bearer <access token>.")
        case .invalidToken: (401, .unauthenticated, .refreshed, "The token is invalid; refresh it or sign in.")
        case .signedOut: (401, .unauthenticated, .no, "This device isn't signed in; sign in again.")
        case .deviceSignedOut: (401, .unauthenticated, .no, "This device is no longer signed in; sign in again.")
        case .invalidCredentials: (401, .unauthenticated, .no, "The credentials are wrong.")
        case .tokenReused:
            (401, .unauthenticated, .no, "Someone may have a copy of this device's token; sign in again.")

        case .confirmationRequired:
            (403, .permissionDenied, .no, "Confirm this with your password or a recovery code first.")
        case .wrongConfirmation: (403, .permissionDenied, .no, "The password or recovery code is wrong.")
        case .keyMayOnlyRead: (403, .permissionDenied, .no, "This API key may look at everything and change nothing.")

        case .notHost: (403, .permissionDenied, .no, "Only the host of the group session may do this.")
        case .notParticipant: (403, .permissionDenied, .no, "Join the group session first.")
        case .removedFromGroup:
            (403, .permissionDenied, .no, "The host removed you; you need an invitation to come back.")

        case .notFound: (404, .notFound, .no, "It doesn't exist, or it isn't yours.")
        case .notContact: (404, .notFound, .no, "This account isn't one of your contacts.")
        case .unknownCommand: (404, .unimplemented, .no, "There is no such command for apps.")
        case .unknownOperation: (404, .unimplemented, .no, "There is no such operation.")
        case .groupNotFound: (404, .notFound, .no, "There is no such group session, or you aren't invited.")
        case .participantNotFound: (404, .notFound, .no, "This person isn't in the group session.")
        case .seatNotFound: (404, .notFound, .no, "The group session has no such seat.")
        case .streamNotFound: (404, .notFound, .no, "No stream of this device has this name; open a new one.")
        case .itemNotFound: (404, .notFound, .no, "The queue doesn't have this item any more.")
        case .attachmentNotFound: (404, .notFound, .no, "The group session has no such attachment.")
        case .methodNotAllowed: (405, .unimplemented, .no, "This path doesn't allow the method; see the header Allow.")

        case .tooSlow: (408, .deadlineExceeded, .sameKey, "The body took too long to arrive; send it again.")
        case .urlTooLong: (414, .invalidArgument, .no, "The path and its parameters are too long.")
        case .bodyTooLarge: (413, .invalidArgument, .no, "The body is too large.")
        case .pictureTooLarge: (413, .invalidArgument, .no, "Send a picture of at most 2 MB.")
        case .messageTooLarge: (413, .invalidArgument, .no, "The data of the message is too large.")
        case .notJSON: (415, .invalidArgument, .no, "Send JSON with Content-Type: application/json.")
        case .notAPicture:
            (415, .invalidArgument, .no, "Send a PNG or a JPEG: Content-Type: image/png or image/jpeg.")
        case .rangeNotSatisfiable: (416, .outOfRange, .no, "There are no such bytes; ask for others.")

        case .staleVersion:
            (409, .aborted, .no, "It has changed in the meantime; read it again and repeat your change.")
        case .handleTaken: (409, .alreadyExists, .no, "This handle is taken; choose another.")
        case .phoneTaken: (409, .alreadyExists, .no, "Another account uses this phone.")
        case .samePassword: (409, .failedPrecondition, .no, "The new password must differ from the current one.")
        case .alreadyContact: (409, .alreadyExists, .no, "You are already contacts.")
        case .alreadyRequested: (409, .alreadyExists, .no, "There is already a request; wait for the answer.")
        case .yourself: (409, .failedPrecondition, .no, "This is your own account; choose another.")
        case .blocked: (409, .failedPrecondition, .no, "You blocked this person; unblock them first.")
        case .notDependent: (409, .failedPrecondition, .no, "Only a responder may do this.")
        case .pingsOff: (409, .failedPrecondition, .no, "One of you turned off pings.")
        case .consentRequired: (409, .failedPrecondition, .no, "The other person must agree first; ask them.")
        case .requestChanged: (409, .aborted, .no, "The request has changed in the meantime; look at it again.")
        case .nothingToUndo: (409, .failedPrecondition, .no, "There is nothing that this device may undo.")
        case .limitReached: (409, .resourceExhausted, .no, "The limit is reached; remove one first.")
        case .codeTaken: (409, .alreadyExists, .newKey, "This code is in use; request another.")
        case .notDue: (409, .failedPrecondition, .sameKey, "It isn't due yet.")
        case .accountNotFound:
            (409, .failedPrecondition, .newKey, "The account isn't ready yet; try again in a moment.")
        case .accountExists: (409, .alreadyExists, .no, "The account already exists.")
        case .accountRequired: (409, .failedPrecondition, .no, "Send this on behalf of an account.")
        case .alreadyInSession:
            (409, .alreadyExists, .no, "You are already in a group session of this activity; join or leave that one.")
        case .needsProfile: (409, .failedPrecondition, .no, "Choose a name first.")
        case .tooManyGroups: (409, .resourceExhausted, .no, "You are in too many group sessions; leave one first.")
        case .groupFull: (409, .resourceExhausted, .no, "The group session is full.")
        case .groupExists: (409, .alreadyExists, .no, "The group session already exists.")
        case .hostChanged: (409, .aborted, .newKey, "The host has changed in the meantime; try again.")
        case .edgeNotFound:
            (409, .failedPrecondition, .newKey, "The connection's server is no longer known; reconnect.")
        case .seatTaken: (409, .alreadyExists, .no, "Someone else has this seat; choose another.")
        case .alreadySeated: (409, .failedPrecondition, .no, "You have a seat; move to another or release it.")
        case .notSeated: (409, .failedPrecondition, .no, "Take a seat first.")
        case .noSeatTaken: (409, .failedPrecondition, .no, "Someone must take a seat before the game starts.")
        case .gameRunning: (409, .failedPrecondition, .no, "The game is already running.")
        case .gameNotRunning: (409, .failedPrecondition, .no, "No game is running.")
        case .notYourTurn: (409, .failedPrecondition, .no, "It isn't your turn.")
        case .alreadyDecided: (409, .failedPrecondition, .no, "An operator has already decided about this dead letter.")
        case .alertChanged:
            (409, .aborted, .no, "Another alert is on by now; look at it, and end it if you are safe.")
        case .checkInDue: (409, .failedPrecondition, .no, "Your check-in is due; check in first.")
        case .tripOn: (409, .failedPrecondition, .no, "You are on a trip already; end it first.")
        case .tripMissed:
            (
                409, .failedPrecondition, .no,
                "The trip's time has passed; say that you have arrived, or that you need help."
            )
        case .alarmOn: (409, .failedPrecondition, .no, "An alarm of yours is on; end it first.")
        case .deadlineNear:
            (
                409, .failedPrecondition, .no,
                "A deadline of yours is within 75 minutes; check in first, or run it after the trip."
            )
        case .noResponder: (409, .failedPrecondition, .no, "Nobody would be told; add a responder first.")
        case .itemChanged: (409, .aborted, .no, "Another item is playing by now.")
        case .notReady: (409, .failedPrecondition, .no, "Declare first that you can be ready.")
        case .groupTooLarge:
            (409, .failedPrecondition, .no, "The group is too large to wait; catch up with it instead.")
        case .attachmentExists:
            (409, .alreadyExists, .no, "The group session already has this attachment; use that one.")
        case .tooManyAttachments:
            (409, .resourceExhausted, .no, "The group session has too many attachments; remove one first.")
        case .accountStorageFull:
            (409, .resourceExhausted, .no, "Your attachments take too much room; remove one first.")
        case .groupStorageFull:
            (409, .resourceExhausted, .no, "The group session's attachments take too much room; remove one first.")
        case .chunkMissing: (409, .failedPrecondition, .no, "A chunk of the attachment is missing; upload it.")
        case .uploadsFull:
            (409, .resourceExhausted, .no, "Your unfinished uploads take too much room; finish or delete one first.")
        case .groupEnded: (410, .failedPrecondition, .no, "The group session is over.")
        case .accountClosed: (410, .failedPrecondition, .no, "The account is closed.")

        case .invalidField: (422, .invalidArgument, .no, "A field has an invalid value.")
        case .invalidCode: (422, .invalidArgument, .no, "Check the digits of the code, or request another code.")
        case .commonPassword: (422, .invalidArgument, .no, "This password is easy to guess; choose another.")
        case .tooManyPixels: (422, .invalidArgument, .no, "The picture has too many pixels; send a smaller one.")
        case .roleRequired: (422, .invalidArgument, .no, "Choose at least one role.")
        case .idReused:
            (422, .invalidArgument, .no, "This Idempotency-Key was used for another request; use a new one.")
        case .digestMismatch:
            (422, .invalidArgument, .sameKey, "The body isn't what its digest says; send it again.")
        case .contentMismatch:
            (422, .failedPrecondition, .no, "The attachment's bytes aren't those of its id; upload it again.")
        case .wrongChunkSize:
            (422, .failedPrecondition, .no, "A chunk of the attachment has the wrong size; upload it again.")
        case .refused: (422, .failedPrecondition, .no, "The service refused this.")

        case .upgradeRequired: (426, .failedPrecondition, .no, "This version of the app is too old; update it.")

        case .tooSoon: (429, .resourceExhausted, .no, "This was done a moment ago; wait and try again.")
        case .tooManyAttempts: (429, .resourceExhausted, .no, "Too many wrong guesses; wait and try again.")
        case .tooManyLookUps:
            (429, .resourceExhausted, .sameKey, "There were too many searches; wait a minute.")
        case .tooManySignUps:
            (429, .resourceExhausted, .sameKey, "There were too many sign-ups from your address; wait a moment.")
        case .tooManyCodes:
            (
                429, .resourceExhausted, .sameKey,
                "There were too many requests for codes from your address; wait a moment."
            )
        case .tooManyStreams:
            (429, .resourceExhausted, .sameKey, "This account opens too many streams; close one or wait a moment.")
        case .tooManyUploads: (429, .resourceExhausted, .sameKey, "There were too many uploads; wait a moment.")
        case .tooManyCommands:
            (429, .resourceExhausted, .sameKey, "This account sends too many commands; wait a moment.")
        case .tooManyRequests:
            (429, .resourceExhausted, .sameKey, "There were too many requests; wait a moment.")

        case .tooManyReads: (429, .resourceExhausted, .sameKey, "This account reads too much; wait a moment.")
        case .tooManyOperations:
            (429, .resourceExhausted, .sameKey, "This account starts too many operations; wait a moment.")
        case .tooManyConnections:
            (429, .resourceExhausted, .sameKey, "Too many connections are open from your address; close one.")
        case .tooManyDownloads:
            (429, .resourceExhausted, .sameKey, "This account has too many downloads at a time; wait for one to end.")
        case .tooManySignals:
            (429, .resourceExhausted, .newKey, "There were too many signals; send fewer, the newest ones only.")

        case .truncated:
            (410, .failedPrecondition, .no, "This history isn't kept any longer; ask for a later position.")
        case .failed:
            (
                500, .internal, .newKey,
                "The request failed and changed nothing; try again later with a new Idempotency-Key."
            )
        case .internal: (500, .internal, .sameKey, "Something went wrong on the server; it is safe to try again.")
        case .phoneCodesOff:
            (501, .unimplemented, .no, "This server doesn't send codes to phones; sign in by handle and password.")
        case .overloaded: (503, .unavailable, .sameKey, "The server is overloaded; try again in a second.")
        case .serverStopping:
            (503, .unavailable, .sameKey, "This server is stopping; connect again to reach another one.")
        case .databaseUnavailable:
            (
                503, .unavailable, .sameKey,
                "The database can't be reached; try again in a moment, with the same Idempotency-Key if the request had one."
            )
        case .codeNotSent: (503, .unavailable, .sameKey, "The code could not be sent; try again in a moment.")
        case .expired: (504, .deadlineExceeded, .newKey, "It expired before it was handled; send it again.")
        case .queryTooSlow:
            (504, .deadlineExceeded, .sameKey, "The query took longer than a second; try again, or ask for less.")
        }
    }
}
