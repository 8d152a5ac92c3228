import API
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SessionContract
import Vocabulary

/// Pictures as bodies: uploaded as they are, downloaded with an entity tag.
extension Routes {
    func addPictures(to signedIn: RouterGroup<SignedInContext>) {
        let avatars = actions.avatars
        signedIn.get("account/avatar") { request, context in
            Self.response(try await avatars.own(by: context.caller, unless: Self.known(by: request)))
        }
        signedIn.get("contacts/{account}/avatar") { request, context in
            Self.response(
                try await avatars.ofContact(
                    context.id("account"), by: context.caller, unless: Self.known(by: request)))
        }
        signedIn.put("account/avatar", use: upload)
        signedIn.delete("account/avatar") { request, context in
            try await avatars.remove(by: context.caller, call(request, context.edge))
            return Response(status: .noContent)
        }
    }

    private func upload(_ request: Request, _ context: SignedInContext) async throws -> Response {
        let call = try call(request, context.edge)
        guard let type = request.headers[.contentType].flatMap(ImageType.init(rawValue:)) else {
            throw APIError(.notAPicture, field: "Content-Type")
        }
        let avatar = try await actions.avatars.upload(type, by: context.caller, call) { limit, time in
            try await request.body(upTo: limit, within: time, context.edge, orElse: APIError(.pictureTooLarge))
        }
        var response = try Response.json(avatar)
        response.headers[.eTag] = Self.tag(of: avatar.hash)
        return response
    }

    private static func response(_ picture: Picture) -> Response {
        // Private, and revalidated each time, because a relation may end.
        var headers: HTTPFields = [.eTag: tag(of: picture.avatar.hash), .cacheControl: "private, no-cache"]
        guard let bytes = picture.bytes else { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = picture.avatar.type.rawValue
        headers[.contentLength] = "\(bytes.count)"
        // A picture is never anything else, whatever is in it.
        headers[.contentTypeOptions] = "nosniff"
        headers[.contentSecurityPolicy] = "default-src 'none'"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func tag(of hash: ContentHash) -> String { "\"\(hash)\"" }

    private static func known(by request: Request) -> @Sendable (ContentHash) -> Bool {
        let header = request.headers[.ifNoneMatch]
        return { isKnown(tag(of: $0), by: header) }
    }

    /// Whether an If-None-Match names the tag (RFC 9110, section 13.1.2): any of a list, weak ones too.
    static func isKnown(_ tag: String, by header: String?) -> Bool {
        guard let header else { return false }
        return header == "*"
            || header.split(separator: ",").contains {
                $0.trimmingCharacters(in: .whitespaces).replacing("W/", with: "") == tag
            }
    }
}

extension HTTPField.Name {
    fileprivate static let contentTypeOptions = HTTPField.Name("X-Content-Type-Options")!
    fileprivate static let contentSecurityPolicy = HTTPField.Name("Content-Security-Policy")!
}
