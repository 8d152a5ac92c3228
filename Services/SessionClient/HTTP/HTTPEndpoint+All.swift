import HTTPTypes
import Hummingbird
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

extension HTTPEndpoint {
    /// Everything that only HTTP carries.
    static let all: [HTTPEndpoint] = [keys, pushKey, stream] + pictures + attachments + documents + operators

    private static let keys = HTTPEndpoint(
        declaration: Endpoint.Declaration(
            name: "GetKeys", method: .get, path: "/.well-known/jwks.json", access: .open,
            summary: "The keys that verify access tokens (RFC 7517).",
            replies: [ReplyDeclaration(status: 200, content: .json { .any })], limit: .reads),
        reason: "Verifiers of tokens look for keys at this address."
    ) { routes, _, _, _ in
        var response = Response.json(routes.admission.tokens.keySet)
        // A new key is published before it signs: long enough for this to have passed.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }

    private static let pushKey = HTTPEndpoint(
        declaration: Endpoint.Declaration(
            name: "GetPushKey", method: .get, path: "/v1/push/key", access: .open,
            summary: "The key with which browsers subscribe to pushes.",
            replies: [ReplyDeclaration(status: 200, content: .json { try Schema(of: PushKey.self) })], limit: .reads),
        reason: "Only browsers subscribe with it."
    ) { routes, _, _, _ in try .json(PushKey(publicKey: routes.pushKey)) }

    private static let stream = signedIn(
        "OpenStream", .get, "/v1/stream", "Everything live, as server-sent events.",
        because: "Over gRPC the same streams are the call Watch.",
        Parameter<GroupID>.every("group", "A group session to follow as well."),
        Parameter<StreamFilter.Part>.choices("stream", "A part to carry; by default all of them."),
        Parameter<[String]>.texts("type", "A type of events to carry; by default all of them."),
        Parameter<AccountID>.every("contact", "A contact to hear of; by default all of them."),
        replies: [ReplyDeclaration(status: 200, content: .bytes(["text/event-stream"]))],
        refusals: [.malformedEventID, .tooManyStreams, .serverStopping], limit: .streams
    ) { routes, request, context, groups, parts, types, contacts in
        try routes.stream(
            request, context, following: Set(groups),
            filter: StreamFilter(parts: parts, types: types, contacts: contacts))
    }
}
