import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Vocabulary

extension Request {
    /// The request's body: JSON that neither a decoder nor PostgreSQL can't take; an empty object where there is none.
    /// - Throws: ``Problem``.
    func json() async throws -> [UInt8] {
        if let type = headers[.contentType],
            type.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() != "application/json"
        {
            throw Problem(.unsupportedMediaType, "notJSON", "send JSON with Content-Type: application/json")
        }
        var request = self
        let buffer: ByteBuffer
        do { buffer = try await request.collectBody(upTo: Message.bodyLimit) } catch is NIOTooManyBytesError {
            throw BodyCheck.tooLarge
        }
        let bytes = Array(buffer.readableBytesView)
        try BodyCheck.check(bytes)
        return bytes.isEmpty ? Array("{}".utf8) : bytes
    }
}

extension Response {
    /// A JSON document.
    static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// A value as a JSON document.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        json(try jsonText(value), status: status)
    }
}

/// A value as JSON.
func jsonText(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}
