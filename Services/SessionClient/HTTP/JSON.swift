import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import QuartetAPI
import QuartetVocabulary

extension Request {
    /// The request's body, which claims to be JSON or nothing.
    /// - Throws: ``APIError``.
    func json(_ context: EdgeContext) async throws -> [UInt8] {
        if let type = headers[.contentType],
            type.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() != "application/json"
        {
            throw APIError(.notJSON)
        }
        return try await body(
            upTo: EdgeLimits.body.value, within: .seconds(EdgeLimits.bodyTime.value), context,
            orElse: BodyCheck.tooLarge)
    }

    /// The request's body, once it has arrived whole.
    /// - Throws: `tooLarge`; `tooSlow`; `incompleteBody` when it ends early or can't be understood.
    func body(
        upTo limit: Int, within time: Duration, _ context: EdgeContext, orElse tooLarge: APIError
    ) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap(Int.init), length > limit { throw tooLarge }
        return try await context.time.whileReceiving(time) { try await collected(upTo: limit, within: time, tooLarge) }
    }

    private func collected(upTo limit: Int, within time: Duration, _ tooLarge: APIError) async throws -> [UInt8] {
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
                    throw APIError(.incompleteBody)
                }
            }
            group.addTask {
                try await Task.sleep(for: time)
                throw APIError(
                    .tooSlow, "The body took longer than \(time.components.seconds) seconds; send it again.")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }
}

extension Response {
    /// A JSON document.
    static func json(_ bytes: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A value as a JSON document.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        json(try Encoded(value).json, status: status)
    }
}
