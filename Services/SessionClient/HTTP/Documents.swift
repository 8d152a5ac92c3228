import HTTPTypes
import Hummingbird
import NIOCore
import QuartetAPI
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

/// Descriptions of the API that people and programs read.
extension HTTPEndpoint {
    private static let reason = "It describes HTTP; a gRPC server describes itself by reflection."

    @ListBuilder<HTTPEndpoint> static var documents: [HTTPEndpoint] {
        open(
            "GetDescription", "/openapi.json", "This document.", because: reason,
            replies: [ReplyDeclaration(status: 200, content: .json { .any }, headers: ["ETag"]), .notModified]
        ) { _, request, _ in try Documents.made.get().description.response(to: request) }
        open(
            "GetDocumentation", "/docs", "The documentation, for people.", because: reason, replies: page
        ) { _, request, _ in try Documents.made.get().page.response(to: request) }
        open(
            "GetErrorDocumentation", "/docs/errors/{code}", "What an error means.", because: reason,
            parameters: [
                ParameterDeclaration(
                    place: .path, name: "code", summary: "The code.",
                    schema: .words(APIError.Code.allCases.map(\.rawValue)))
            ], replies: page, refusals: [.notFound]
        ) { _, request, context in
            guard let code = context.parameters.get("code").flatMap(APIError.Code.init(rawValue:)),
                let page = try Documents.made.get().errors[code]
            else { throw APIError(.notFound, "There is no such error.", field: "code") }
            return page.response(to: request)
        }
        open(
            "GetLimitDocumentation", "/docs/limits", "What the server takes from outside.", because: reason,
            replies: page
        ) { _, request, _ in try Documents.made.get().limits.response(to: request) }
        open(
            "GetDocumentationStyle", "/docs/style.css", "The style of the documentation.", because: reason,
            replies: [ReplyDeclaration(status: 200, content: .bytes(["text/css"]), headers: ["ETag"]), .notModified]
        ) { _, request, _ in try Documents.made.get().style.response(to: request) }
    }

    private static let page = [
        ReplyDeclaration(status: 200, content: .bytes(["text/html"]), headers: ["ETag"]), .notModified,
    ]

    private static func open(
        _ name: String, _ path: String, _ summary: String, because reason: String,
        parameters: [ParameterDeclaration] = [], replies: [ReplyDeclaration], refusals: [APIError.Code] = [],
        respond: @escaping @Sendable (Routes, Request, EdgeContext) throws -> Response
    ) -> HTTPEndpoint {
        HTTPEndpoint(
            declaration: Endpoint.Declaration(
                name: name, method: .get, path: path, access: .open, summary: summary, parameters: parameters,
                replies: replies, refusals: refusals, limit: .reads),
            reason: reason
        ) { routes, request, context, _ in try respond(routes, request, context) }
    }
}

/// The documents, made once.
private struct Documents: Sendable {
    struct File: Sendable {
        /// All answers share it, however many wait to be read.
        let bytes: ByteBuffer
        let type: String
        let tag: EntityTag

        init(_ text: String, type: String) {
            (bytes, self.type) = (ByteBuffer(string: text), type)
            tag = EntityTag(ContentHash(of: Array(text.utf8)))
        }

        func response(to request: Request) -> Response {
            var headers: HTTPFields = [.eTag: tag.text, .cacheControl: "public, no-cache"]
            guard !request.has(tag) else { return Response(status: .notModified, headers: headers) }
            headers[.contentType] = type
            // Texts never become anything that runs or is fetched.
            headers[.contentSecurityPolicy] =
                "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
        }
    }

    let description: File
    let page: File
    let limits: File
    let errors: [APIError.Code: File]
    let style: File

    static let made = Result { try Documents() }

    private init() throws {
        let declarations = Endpoint.all.map(\.declaration) + HTTPEndpoint.all.map(\.declaration)
        let openAPI = try OpenAPI(declarations)
        let pages = DocumentPages(declarations: declarations, objects: openAPI.objects)
        let html = "text/html; charset=utf-8"
        description = File(openAPI.document.canonical, type: "application/json")
        page = File("\(try pages.endpoints())", type: html)
        limits = File("\(pages.limits())", type: html)
        errors = Dictionary(
            APIError.Code.allCases.map { ($0, File("\(pages.error($0))", type: html)) },
            uniquingKeysWith: { first, _ in first })
        style = File(String(decoding: PackageResources.style_css, as: UTF8.self), type: "text/css; charset=utf-8")
    }
}
