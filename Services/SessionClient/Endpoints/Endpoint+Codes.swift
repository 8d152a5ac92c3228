import API

extension Endpoint.Declaration {
    /// Every code that it can be refused with: its own, and those of anything that is asked, read or decided in this way.
    var codes: [APIError.Code] {
        var codes: Set<APIError.Code> = [
            .badRequest, .upgradeRequired, .urlTooLong, .internal, .overloaded, .databaseUnavailable,
        ]
        codes.formUnion(refusals)
        if access != .open { codes.formUnion([.missingToken, .invalidToken, .signedOut]) }
        if let limit {
            codes.insert(.tooManyRequests)
            if access != .open { codes.insert(limit.refusal) }
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
        if method != .get { codes.formUnion([.invalidIdempotencyKey, .idTooOld]) }
        if method != .get, isDecided {
            codes.formUnion([
                .noOutcomeYet, .idReused, .refused, .failed, .expired, .accountNotFound, .accountClosed,
                .deviceSignedOut,
            ])
        }
        return APIError.Code.allCases.filter(codes.contains)
    }
}
