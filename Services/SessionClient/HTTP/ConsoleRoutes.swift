import Foundation
import HTTPTypes
import Hummingbird
import QuartetAPI
import ServiceKit

/// Serves the console: one page, whose modules speak to the API like any other app.
struct ConsoleRoutes: Sendable {
    /// What the browser may show under the page: each is answered with it.
    private static let pages: [RouterPath] = [
        "", "welcome", "contacts", "contacts/{account}", "together", "together/{group}", "listen", "search",
        "notifications", "me",
    ]

    /// The first parts of these paths, as the service worker knows them.
    private static let firstParts = Set(pages.map { $0.description.split(separator: "/").first.map(String.init) ?? "" })
        .sorted()

    /// What operators may show. These paths are there where operators are configured.
    private static let operatorsPages: [RouterPath] = [
        "ops", "ops/dead", "ops/tail", "ops/story", "ops/story/{id}", "ops/told", "ops/told/{alarm}", "ops/sagas",
        "ops/sagas/{id}", "ops/groups", "ops/groups/{group}", "ops/sql",
    ]

    /// Nothing but our own files runs, and texts never become markup: the one policy of trusted types only knows the service worker's
    /// address. Pictures are fetched with a token, so they are blobs.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types worker",
    ].joined(separator: "; ")

    private let files: @Sendable () throws -> ConsoleFiles

    /// - Parameter folder: Where the files are while somebody works on them: read for each request. Nil: those beside the
    ///   executable, read once.
    /// - Throws: ``ConsoleFiles/Missing``.
    init(folder: String?) throws {
        if let folder {
            files = { try ConsoleFiles(folder: URL(filePath: folder), pages: Self.firstParts, isCompressed: false) }
            _ = try files()
        } else {
            let files = try ConsoleFiles(
                folder: ResourceFolder.url("Console", of: "SessionClientService"), pages: Self.firstParts,
                isCompressed: true)
            self.files = { files }
        }
    }

    func add(to router: Router<EdgeContext>, forOperators: Bool) {
        add(Self.pages, to: router) { $0.page }
        if forOperators { add(Self.operatorsPages, to: router) { $0.operatorsPage } }
        router.get("console-worker.js") { [files] request, _ in
            Self.response(try files().worker, to: request, [.cacheControl: "no-cache"])
        }
        router.get("console/{version}/**") { [files] request, context in
            let path = context.parameters.getCatchAll().joined(separator: "/")
            let files = try files()
            guard let file = files[path] else {
                throw APIError(.notFound, "The console has no such file; reload the page.")
            }
            // While a new version is rolled out, the page may have come from a replica that has another one. It gets
            // what there is here, and asks again next time: without any script it would stay blank.
            let isCurrent = try context.parameters.require("version") == files.version
            let caching = isCurrent ? "public, max-age=31536000, immutable" : "no-store"
            return Self.response(file, to: request, [.cacheControl: caching])
        }
    }

    private func add(
        _ paths: [RouterPath], to router: Router<EdgeContext>,
        _ page: @escaping @Sendable (ConsoleFiles) -> ConsoleFiles.File
    ) {
        for path in paths {
            router.get(path) { [files] request, _ in
                let files = try files()
                // Another tag for each encoding: their bytes differ.
                let tag = EntityTag(files.version + (request.acceptsGzip ? "-gzip" : ""))
                // The policy as well: what a browser has kept takes over the headers of this answer.
                let headers: HTTPFields = [
                    .eTag: tag.text, .cacheControl: "no-cache", .vary: "Accept-Encoding",
                    .contentSecurityPolicy: Self.policy,
                ]
                return request.has(tag)
                    ? Response(status: .notModified, headers: headers)
                    : Self.response(page(files), to: request, headers)
            }
        }
    }

    private static func response(_ file: ConsoleFiles.File, to request: Request, _ headers: HTTPFields) -> Response {
        var headers = headers
        var bytes = file.bytes
        headers[.vary] = "Accept-Encoding"
        if request.acceptsGzip, let gzip = file.gzip {
            bytes = gzip
            headers[.contentEncoding] = "gzip"
        }
        headers[.contentType] = file.type
        headers[.contentSecurityPolicy] = policy
        headers[.referrerPolicy] = "no-referrer"
        headers[.crossOriginOpenerPolicy] = "same-origin"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
    }
}

extension HTTPField.Name {
    // Tokens of RFC 9110, section 5.6.2: these literals are names.
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    fileprivate static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
}
