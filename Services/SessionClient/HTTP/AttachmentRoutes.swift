import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import ServiceLifecycle

/// Files of group sessions: uploaded in chunks, downloaded whole or in ranges.
extension HTTPEndpoint {
    private static let upload = Parameter<ContentHash>.path("upload", "The upload: the attachment's id.")
    private static let uploading = "The bytes of chunks are bodies of their own, of any size up to 256 KiB."
    private static let hidden: [APIError.Code] = [.groupNotFound, .groupEnded, .removedFromGroup, .notParticipant]

    @ListBuilder<HTTPEndpoint> static var attachments: [HTTPEndpoint] {
        signedIn(
            "GetUpload", .get, "/v1/uploads/{upload}", "How far an upload is.", because: uploading, upload,
            replies: [ReplyDeclaration(status: 200, content: .json { try Schema(of: UploadProgress.self) })],
            refusals: [.notFound]
        ) { routes, _, context, upload in
            try Response.json(try await routes.actions.uploads.progress(of: upload, by: context.caller))
        }
        signedIn(
            "UploadChunks", .put, "/v1/uploads/{upload}/chunks/{chunk}",
            "Uploads one to four chunks of 65,536 bytes; only the last one of an attachment is smaller.",
            because: uploading, upload,
            Parameter<Int>.path("chunk", in: 0...AttachmentRules.lastChunk, "The first chunk's number, from 0."),
            body: .bytes(["application/octet-stream"]), replies: [ReplyDeclaration(status: 204, content: nil)],
            refusals: [.invalidParameter, .digestMismatch, .tooManyUploads, .uploadsFull], limit: nil,
            isDecided: false
        ) { routes, request, context, upload, chunk in
            try await routes.addChunks(request, context, to: upload, from: chunk)
        }
        signedIn(
            "DeleteUpload", .delete, "/v1/uploads/{upload}", "Deletes an upload and its chunks.", because: uploading,
            upload, replies: [ReplyDeclaration(status: 204, content: nil)],
            // Deleting twice is deleting.
            impossible: [.invalidIdempotencyKey], limit: .commands, isDecided: false
        ) { routes, _, context, upload in
            try await routes.actions.uploads.delete(upload, by: context.caller)
            return Response(status: .noContent)
        }
        signedIn(
            "GetAttachment", .get, "/v1/groups/{group}/attachments/{attachment}",
            "The bytes of an attachment, or a range of them.",
            because: "Browsers and players ask for ranges of bytes, which are HTTP's own.",
            Parameter<GroupID>.path("group", "The group session."),
            Parameter<ContentHash>.path("attachment", "The attachment's id."),
            replies: [
                ReplyDeclaration(
                    status: 200, content: .bytes(["*/*"]), headers: ["ETag", "Accept-Ranges", "Content-Disposition"]),
                ReplyDeclaration(
                    status: 206, content: .bytes(["*/*"]), summary: "The bytes that `Range` names.",
                    headers: ["ETag", "Content-Range"]),
                .notModified,
            ], refusals: hidden + [.attachmentNotFound, .rangeNotSatisfiable, .tooManyDownloads]
        ) { routes, request, context, group, attachment in
            try routes.response(
                to: request,
                try await routes.actions.attachments.open(attachment, of: group, by: context.caller))
        }
    }
}

extension Routes {
    fileprivate func addChunks(
        _ request: Request, _ context: SignedInContext, to upload: ContentHash, from number: Int
    ) async throws -> Response {
        let digest = try ContentDigest(request.headers[.contentDigest])
        try await actions.uploads.add(
            to: upload, from: number, by: context.caller, call(request, context.edge)
        ) { limit, time in
            let bytes = try await request.body(
                upTo: limit, within: time, context.edge,
                orElse: APIError(.bodyTooLarge, "Send at most \(limit) bytes at a time: whole chunks."))
            try digest?.check(bytes)
            return bytes
        }
        return Response(status: .noContent)
    }

    // MARK: Downloading

    fileprivate func response(to request: Request, _ download: Attachments.Download) throws -> Response {
        let tag = EntityTag(download.attachment)
        // Private, and asked for again each time, because who is in the session changes.
        var headers: HTTPFields = [
            .eTag: tag.text, .acceptRanges: "bytes", .cacheControl: "private, no-cache",
        ]
        if request.has(tag) {
            return Response(status: .notModified, headers: headers)
        }
        let isPartWanted = request.method == .get && request.headers[.ifRange].map { $0 == tag.text } ?? true
        let range = isPartWanted ? ByteRange(request.headers[.range], of: download.size) : .everything
        let part: Range<Int>
        switch range {
        case .everything: part = 0..<download.size
        case .part(let wanted):
            part = wanted
            headers[.contentRange] = "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(download.size)"
        case .unsatisfiable:
            var error = APIError(
                .rangeNotSatisfiable, "The attachment has \(download.size) bytes; ask for some of these.")
            error.size = download.size
            throw error
        }
        headers[.contentType] = download.contentType
        headers[.contentLength] = "\(part.count)"
        // Whatever people upload: it is a file, and never a page of this origin.
        headers[.contentDisposition] = Self.disposition(download.name)
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        headers[.crossOriginResourcePolicy] = "same-origin"
        return Response(
            status: part.count == download.size && range == .everything ? .ok : .partialContent, headers: headers,
            body: body(download, part))
    }

    /// One chunk at a time: the next one is read when the app has taken the last one.
    private func body(_ download: Attachments.Download, _ part: Range<Int>) -> ResponseBody {
        let (attachments, deadline) = (actions.attachments, WriteDeadline(actions.streams.writeDeadline))
        return ResponseBody(contentLength: part.count) { writer in
            defer { download.place.leave() }
            // Safe: this task alone writes, one write after the other.
            nonisolated(unsafe) var writer = writer
            try await cancelWhenGracefulShutdown {
                try await deadline.watching {
                    let size = ContentHash.chunkSize
                    for number in part.lowerBound / size...(part.upperBound - 1) / size {
                        let bytes = try await attachments.chunk(number, of: download)
                        let begin = number * size
                        let wanted = part.clamped(to: begin..<begin + bytes.count)
                        let buffer = ByteBuffer(bytes: bytes[wanted.lowerBound - begin..<wanted.upperBound - begin])
                        try await deadline.write { try await writer.write(buffer) }
                    }
                }
            }
            try await writer.finish(nil)
        }
    }

    /// RFC 6266, with the name as in RFC 8187.
    static func disposition(_ name: String) -> String {
        let plain = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar -> Unicode.Scalar in
                    let isPlain = scalar.isASCII && scalar.value >= 0x20 && scalar != "\"" && scalar != "%"
                    return isPlain && scalar.value != 0x7F ? scalar : "_"
                }))
        let allowed = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~")
        let whole = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? plain
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(whole)"
    }
}

/// What a request says about its body (RFC 9530): other algorithms than SHA-256 are left to others.
struct ContentDigest: Equatable {
    private let sha256: [UInt8]

    /// Nil unless the header has a SHA-256.
    /// - Throws: `invalidParameter`.
    init?(_ header: String?) throws(APIError) {
        let prefix = "sha-256=:"
        let members = header?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let member = members?.first(where: { $0.hasPrefix(prefix) }) else { return nil }
        guard member.hasSuffix(":"), member.count > prefix.count,
            let digest = Data(base64Encoded: String(member.dropFirst(prefix.count).dropLast())), digest.count == 32
        else {
            throw APIError(
                .invalidParameter, "Content-Digest must be sha-256=: with the digest in base64 and a colon.",
                field: "Content-Digest")
        }
        sha256 = Array(digest)
    }

    /// - Throws: `digestMismatch`.
    func check(_ bytes: [UInt8]) throws(APIError) {
        guard Array(SHA256.hash(data: bytes)) == sha256 else {
            throw APIError(.digestMismatch, field: "Content-Digest")
        }
    }
}

extension HTTPField.Name {
    // A token of RFC 9110, section 5.6.2: this literal is a name.
    fileprivate static let contentDigest = HTTPField.Name("Content-Digest")!
}
