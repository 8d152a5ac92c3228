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
        response.headers[.eTag] = EntityTag(avatar.hash).text
        return response
    }

    private static func response(_ picture: Picture) -> Response {
        // Private, and revalidated each time, because a relation may end.
        var headers: HTTPFields = [.eTag: EntityTag(picture.avatar.hash).text, .cacheControl: "private, no-cache"]
        guard let bytes = picture.bytes else { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = picture.avatar.type.rawValue
        headers[.contentLength] = "\(bytes.count)"
        // A picture is never a page, whatever is in it.
        headers[.contentSecurityPolicy] = "default-src 'none'"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Whether the app has a picture already.
    private static func known(by request: Request) -> @Sendable (ContentHash) -> Bool {
        { request.has(EntityTag($0)) }
    }
}
