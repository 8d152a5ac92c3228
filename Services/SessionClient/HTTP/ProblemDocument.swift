import HTTPTypes
import Hummingbird
import NIOCore
import QuartetAPI
import QuartetVocabulary

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
        let retry: Retry
        let retryAfter: Int?
        let details: [String: JSONValue]?
    }

    /// The document and what goes with it.
    func problem() throws -> (status: HTTPResponse.Status, headers: HTTPFields, body: [UInt8]) {
        let status = HTTPResponse.Status(code: code.httpStatus)
        let document = Document(
            type: "/docs/errors/\(code.rawValue)", title: code.sentence, status: status.code, code: code,
            detail: detail, field: field, reason: reason, retry: retry, retryAfter: retryAfter, details: details)
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let key { headers[.idempotencyKey] = key.description }
        if let allowed { headers[.allow] = allowed.joined(separator: ", ") }
        if let size { headers[.contentRange] = "bytes */\(size)" }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return (status, headers, try Encoded(document).json(adding: "current", current))
    }

    func problemDocument() throws -> Response {
        let problem = try problem()
        return Response(
            status: problem.status, headers: problem.headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: problem.body)))
    }
}
