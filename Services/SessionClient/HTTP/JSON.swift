import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Vocabulary

extension Request {
    /// The request's body: JSON that neither a decoder nor PostgreSQL can't take; an empty object where there is none.
    /// - Throws: ``Problem``.
    func json(_ context: EdgeContext) async throws -> [UInt8] {
        if let type = headers[.contentType],
            type.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() != "application/json"
        {
            throw Problem(.unsupportedMediaType, "notJSON", "send JSON with Content-Type: application/json")
        }
        let bytes = try await body(upTo: Message.bodyLimit, within: .seconds(15), context, orElse: BodyCheck.tooLarge)
        try BodyCheck.check(bytes)
        return bytes.isEmpty ? Array("{}".utf8) : bytes
    }

    /// The request's body, once it has arrived whole.
    /// - Throws: `tooLarge`; ``Problem`` 408 when it takes too long, and 400 when it ends early or can't be understood.
    func body(
        upTo limit: Int, within time: Duration, _ context: EdgeContext, orElse tooLarge: Problem
    ) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap(Int.init), length > limit { throw tooLarge }
        return try await context.time.whileReceiving(time) { try await collected(upTo: limit, within: time, tooLarge) }
    }

    private func collected(upTo limit: Int, within time: Duration, _ tooLarge: Problem) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask {
                var request = self
                do {
                    return Array(try await request.collectBody(upTo: limit).readableBytesView)
                } catch is NIOTooManyBytesError {
                    throw tooLarge
                } catch let error as CancellationError {
                    throw error
                } catch {
                    throw Problem(.badRequest, "incompleteBody", "the body did not arrive whole; send it again")
                }
            }
            group.addTask {
                try await Task.sleep(for: time)
                throw Problem(
                    .requestTimeout, "tooSlow",
                    "the body took longer than \(time.components.seconds) seconds; send it again")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
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
