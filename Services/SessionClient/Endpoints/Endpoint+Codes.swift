import QuartetAPI
import QuartetSessionClientOrchestration

extension Endpoint.Declaration {
    /// Every code that it can be refused with: its own, and those of anything that is asked, read or decided in this way.
    ///
    /// After a whole run, `Tests/answers.py` lists those that no answer had, but for the few that it says are out of
    /// reach, and refusals with any other code.
    var codes: [APIError.Code] {
        var codes: Set<APIError.Code> = [.badRequest, .upgradeRequired, .urlTooLong]
        // Documents and keys are made without the database.
        if access != .open || method != .get { codes.formUnion([.internal, .overloaded, .databaseUnavailable]) }
        switch access {
        case .open: break
        case .signedIn: codes.formUnion([.missingToken, .invalidToken, .signedOut])
        case .operators(let role):
            codes.formUnion([.missingToken, .invalidToken, .tooManyAttempts, .notFound, .queryTooSlow])
            if role == .act { codes.insert(.keyMayOnlyRead) }
        }
        if let limit {
            codes.insert(.tooManyRequests)
            if access == .signedIn { codes.insert(limit.refusal) }
        }
        for parameter in parameters {
            switch (parameter.place, parameter.schema) {
            case (.path, .string): codes.insert(.invalidID)
            case (.path, .words), (.header, _): break
            case (.path, _), (.query, _): codes.insert(.invalidParameter)
            }
        }
        switch body {
        case .json?:
            codes.formUnion([
                .malformed, .malformedBody, .incompleteBody, .bodyTooLarge, .notJSON, .tooSlow, .invalidField,
            ])
        case .bytes?: codes.formUnion([.incompleteBody, .bodyTooLarge, .tooSlow])
        case nil: break
        }
        if takesKey { codes.insert(.invalidIdempotencyKey) }
        codes.formUnion(decision)
        codes.subtract(impossible)
        codes.formUnion(refusals)
        return APIError.Code.allCases.filter(codes.contains)
    }

    /// What may become of anything that a service decides, whatever it is.
    private var decision: Set<APIError.Code> {
        guard takesKey, isDecided else { return [] }
        var codes: Set<APIError.Code> = [.idTooOld]
        // Without a body, a request under the same key is the same request.
        if body != nil { codes.insert(.idReused) }
        // An operation is recorded here, and its state says what becomes of it.
        guard family != .operations else { return codes }
        codes.formUnion([.noOutcomeYet, .refused, .failed, .expired])
        guard access != .open else { return codes }
        codes.insert(.accountClosed)
        // Session opens accounts. The others hear of them.
        if family == .commands, Domain.ofAppCommands[name] != .session { codes.insert(.accountNotFound) }
        return codes
    }

    /// Whether a request may name itself, so that it is done once however often it is sent. What operators do is done once, or
    /// may be done again.
    var takesKey: Bool {
        if case .operators = access { return false }
        return method != .get
    }
}
