import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Pictures as bodies: uploaded as they are, downloaded with an entity tag.
extension HTTPEndpoint {
    private static let reason = "A picture is a body of its own type, which caches know by its entity tag."
    private static let types = ImageType.allCases.map(\.rawValue)
    private static let downloads = [
        ReplyDeclaration(status: 200, content: .bytes(types), headers: ["ETag"]), .notModified,
    ]

    @ListBuilder<HTTPEndpoint> static var pictures: [HTTPEndpoint] {
        signedIn(
            "GetAvatar", .get, "/v1/account/avatar", "The caller's picture.", because: reason, replies: downloads,
            refusals: [.notFound, .overloaded]
        ) { routes, request, context in
            Response(try await routes.actions.avatars.own(by: context.caller, unless: request.isKnown))
        }
        signedIn(
            "GetContactAvatar", .get, "/v1/contacts/{account}/avatar",
            "The picture of a contact, or of someone in a group session with the caller.", because: reason,
            Parameter<AccountID>.path("account", "The account."), replies: downloads,
            refusals: [.notFound, .notContact, .overloaded]
        ) { routes, request, context, account in
            Response(
                try await routes.actions.avatars.ofContact(account, by: context.caller, unless: request.isKnown))
        }
        signedIn(
            "SetAvatar", .put, "/v1/account/avatar", "Sets the caller's picture; its metadata is removed.",
            because: reason, body: .bytes(types),
            replies: [ReplyDeclaration(status: 200, content: .json { try Schema(of: Avatar.self) }, headers: ["ETag"])],
            refusals: [.notAPicture, .pictureTooLarge, .tooManyPixels, .tooManyUploads, .uploadsFull, .notFound],
            impossible: [.bodyTooLarge], limit: .commands
        ) { routes, request, context in try await routes.upload(request, context) }
    }
}

extension Routes {
    fileprivate func upload(_ request: Request, _ context: SignedInContext) async throws -> Response {
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
}

extension Response {
    fileprivate init(_ picture: Picture) {
        // Private, and revalidated each time, because a relation may end.
        var headers: HTTPFields = [.eTag: EntityTag(picture.avatar.hash).text, .cacheControl: "private, no-cache"]
        guard let bytes = picture.bytes else {
            self.init(status: .notModified, headers: headers)
            return
        }
        headers[.contentType] = picture.avatar.type.rawValue
        headers[.contentLength] = "\(bytes.count)"
        // A picture is never a page, whatever is in it.
        headers[.contentSecurityPolicy] = "default-src 'none'"
        self.init(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// Whether the app has a picture already.
    fileprivate var isKnown: @Sendable (ContentHash) -> Bool {
        { has(EntityTag($0)) }
    }
}
