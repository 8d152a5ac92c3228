import Bus
import HTTPTypes
import Hummingbird
import NIOCore
import Vocabulary

extension Rejection {
    /// The same with its field named as in the request, where that calls it something else than the command does.
    func naming(_ names: [String: String]) -> Self {
        Rejection(code, message, field: field.map { names[$0] ?? $0 }, retryAfter: retryAfter)
    }
}

/// An error as the API tells it: an RFC 9457 problem document with a stable code and, where one is at fault, the field.
struct Problem: Error, HTTPResponseError {
    let status: HTTPResponse.Status
    /// Lower camel case, stable for ever.
    let code: String
    /// Says what to do, in a sentence.
    let detail: String
    let field: String?
    /// Seconds after which trying again makes sense.
    let retryAfter: Int?
    /// For programs: which of several causes of one code it was.
    var reason: String?
    /// The present state of what was changed meanwhile: JSON.
    var current: [UInt8]?
    /// Under which key the same request asks how it ended.
    var key: IdempotencyKey?

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, field: String? = nil, retryAfter: Int? = nil)
    {
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.retryAfter = retryAfter
    }

    init(_ rejection: Rejection) {
        self.init(
            Self.status(of: rejection), rejection.code.rawValue, rejection.message,
            field: rejection.field ?? (Self.isAboutTheKey(rejection) ? "Idempotency-Key" : nil),
            retryAfter: rejection.retryAfter.map(\.secondsRoundedUp).map(Int.init(clamping:)))
    }

    init(_ error: CommandError, retryWith key: IdempotencyKey) {
        switch error {
        case .overloaded: self.init(.serviceUnavailable, "overloaded", error.description, retryAfter: 1)
        case .refused: self.init(.unprocessableContent, "refused", error.description)
        case .noOutcomeYet:
            self.init(
                .accepted, "noOutcomeYet",
                "the command was taken on but is not done yet; ask again with the header Idempotency-Key: \(key.id)",
                retryAfter: 1)
            self.key = key
        }
    }

    private static func isAboutTheKey(_ rejection: Rejection) -> Bool {
        [Rejection.Code.idReused, .idTooOld].contains(rejection.code)
    }

    private static func status(of rejection: Rejection) -> HTTPResponse.Status {
        switch rejection.code.rawValue {
        case "notFound", "notContact": .notFound
        // Somebody else's: the asker's own is there, or will be in a moment.
        case "accountNotFound" where rejection.field != nil: .notFound
        case "invalidCredentials", "deviceSignedOut", "invalidToken": .unauthorized
        case "malformed", "unknownCommand", "idTooOld": .badRequest
        case "confirmationRequired": .forbidden
        case "invalidField", "invalidCode", "roleRequired", "idReused": .unprocessableContent
        case "tooManyAttempts", "tooSoon": .tooManyRequests
        case "accountClosed": .gone
        case "expired": .gatewayTimeout
        default: .conflict
        }
    }

    private struct Document: Encodable {
        let type: String
        let title: String
        let status: Int
        let code: String
        let detail: String
        let field: String?
        let reason: String?
        let retryAfter: Int?
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let document = Document(
            type: "urn:quartet:problem:\(code)", title: status.reasonPhrase, status: status.code, code: code,
            detail: detail, field: field, reason: reason, retryAfter: retryAfter)
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let key { headers[.idempotencyKey] = key.id.description }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        var text = try jsonText(document)
        if let current {
            text.removeLast()
            text += ",\"current\":\(String(decoding: current, as: UTF8.self))}"
        }
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
