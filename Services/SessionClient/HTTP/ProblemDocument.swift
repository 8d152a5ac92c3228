import API
import HTTPTypes
import Hummingbird
import Vocabulary

extension APIError {
    /// An RFC 9457 problem document.
    private struct Document: Encodable {
        let type: String
        let title: String
        let status: Int
        let code: Code
        let detail: String
        let field: String?
        let reason: String?
        let retryAfter: Int?
        let details: [String: JSONValue]?
    }

    func problemDocument() throws -> Response {
        let status = HTTPResponse.Status(code: code.httpStatus)
        let document = Document(
            type: "urn:quartet:problem:\(code.rawValue)", title: status.reasonPhrase, status: status.code, code: code,
            detail: detail, field: field, reason: reason, retryAfter: retryAfter, details: details)
        var response = try Response.json(document, adding: "current", current, status: status)
        response.headers[.contentType] = "application/problem+json"
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        if let key { response.headers[.idempotencyKey] = key.description }
        if let allowed { response.headers[.allow] = allowed.joined(separator: ", ") }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}
