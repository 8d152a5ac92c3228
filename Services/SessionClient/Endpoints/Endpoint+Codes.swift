import API

extension Endpoint.Declaration {
    /// Every code that it can be refused with: its own, and those of anything that is asked, read or decided in this way.
    var codes: [APIError.Code] {
        var codes: Set<APIError.Code> = [
            .badRequest, .upgradeRequired, .urlTooLong, .internal, .overloaded, .databaseUnavailable,
        ]
        codes.formUnion(refusals)
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
        if hasKey { codes.formUnion([.invalidIdempotencyKey, .idTooOld]) }
        if method != .get, isDecided {
            codes.formUnion([
                .noOutcomeYet, .idReused, .refused, .failed, .expired, .accountNotFound, .accountClosed,
                .deviceSignedOut,
            ])
        }
        return APIError.Code.allCases.filter(codes.contains)
    }

    /// Whether it takes an Idempotency-Key. What operators do is done once, or may be done again.
    var hasKey: Bool {
        if case .operators = access { return false }
        return method != .get
    }
}
