import QuartetAPI
import QuartetVocabulary
import ServiceKit

/// The documentation as pages: of everything that can be asked, and of each error.
struct DocumentPages: Sendable {
    let declarations: [Endpoint.Declaration]
    let objects: [String: Schema.Object]

    // MARK: What can be asked

    func endpoints() throws -> HTML {
        let tags = Set(declarations.map(\.tag)).sorted()
        let links = tags.map { tag -> HTML in "<li><a href=\"#\(tag)\">\(tag)</a></li>\n" }
        let sections = try tags.map { tag -> HTML in
            let articles = try declarations.filter { $0.tag == tag }.map(article)
            return "<section id=\"\(tag)\">\n<h2>\(tag)</h2>\n\(articles)</section>\n"
        }
        let events = try StreamSchemas.all.sorted { $0.key < $1.key }.map { name, schema -> HTML in
            "<tr><td><code>\(name)</code></td><td>\(type(schema))</td></tr>\n"
        }
        let types = objects.values.sorted { $0.name < $1.name }.map(describe)
        return .page(
            "Quartet: the API",
            """
            <h1>Quartet: the API</h1>
            <p>JSON over HTTP, made from what the server itself routes and decodes by. <a href="/openapi.json">openapi.json</a> \
            says the same for programs. Times are microseconds since 1970, ids are UUIDs.</p>
            <nav><ul>
            \(links)<li><a href="#events">events of the stream</a></li>
            <li><a href="#types">types</a></li>
            <li><a href="#errors">errors</a></li>
            <li><a href="/docs/limits">limits</a></li>
            </ul></nav>
            \(sections)<section id="events">
            <h2>Events of the stream</h2>
            <table>
            <tr><th>event</th><th>data</th></tr>
            \(events)</table>
            </section>
            <section id="types">
            <h2>Types</h2>
            \(types)</section>
            <section id="errors">
            <h2>Errors</h2>
            <table>
            <tr><th>code</th><th>status</th><th></th></tr>
            \(APIError.Code.allCases.map(row))</table>
            </section>
            """)
    }

    private func article(_ declaration: Endpoint.Declaration) throws -> HTML {
        var parts: [HTML] = declaration.deprecations.map { name, deprecation -> HTML in
            "<p class=\"deprecated\"><code>\(name)</code>: \(deprecation.words) <a href=\"\(deprecation.instead)\">Instead</a></p>\n"
        }
        if !declaration.parameters.isEmpty {
            let rows = declaration.parameters.map { parameter -> HTML in
                """
                <tr><td><code>\(parameter.name)</code></td><td>in the \(parameter.place.rawValue)</td>\
                <td>\(type(parameter.schema))</td><td>\(parameter.summary)</td></tr>

                """
            }
            parts.append("<table>\n\(rows)</table>\n")
        }
        switch declaration.body {
        case .json?:
            if let schema = try declaration.sentSchema { parts.append("<p>Body: \(type(schema))</p>\n") }
        case .bytes(let types)?: parts.append("<p>Body: \(types.joined(separator: ", "))</p>\n")
        case nil: break
        }
        for reply in declaration.replies {
            let content: HTML =
                switch reply.content {
                case .json?: try reply.schema.map(type) ?? ""
                case .bytes(let types)?: "\(types.joined(separator: ", "))"
                case nil: ""
                }
            parts.append("<p>\(reply.status) \(content) \(reply.summary ?? "")</p>\n")
        }
        let codes = declaration.codes.map { code -> HTML in
            "<a href=\"/docs/errors/\(code.rawValue)\">\(code.rawValue)</a> "
        }
        return """
            <article id="\(declaration.name)">
            <h3>\(declaration.name)</h3>
            <p><code>\(declaration.method.rawValue) \(declaration.path)</code></p>
            <p>\(declaration.summary)\(declaration.access.words)</p>
            \(parts)<details><summary>Refusals</summary><p class="codes">\(codes)</p></details>
            </article>

            """
    }

    private func describe(_ object: Schema.Object) -> HTML {
        let rows = object.properties.map { property -> HTML in
            """
            <tr><td><code>\(property.name)</code></td><td>\(type(property.schema))</td>\
            <td>\(property.isRequired ? "" : "optional")</td></tr>

            """
        }
        return "<article id=\"type-\(object.name)\">\n<h3>\(object.name)</h3>\n<table>\n\(rows)</table>\n</article>\n"
    }

    private func type(_ schema: Schema) -> HTML {
        switch schema {
        case .any: "any JSON"
        case .boolean: "true or false"
        case .integer(let range?): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .integer: "a whole number"
        case .number: "a number"
        case .string("uuid", _): "a UUID"
        case .string: "a text"
        case .words(let words): "\(words.map { word -> HTML in "<code>\(word)</code> " })"
        case .array(let element): "a list of: \(type(element))"
        case .map: "an object"
        case .object(let object): "<a href=\"#type-\(object.name)\">\(object.name)</a>"
        case .anyOf(let schemas): "\(schemas.map { schema -> HTML in "\(type(schema)) " })"
        }
    }

    // MARK: Limits

    func limits() -> HTML {
        let rows = EdgeLimits.all.map { limit -> HTML in
            """
            <tr><td>\(limit.what)</td><td>\(limit.amount)</td><td>\(limit.scope)</td><td>\(hit(limit.hit))</td>\
            <td>\(limit.declaredSetting.map { flag -> HTML in "<code>\(flag.flag)</code>" } ?? "")</td></tr>

            """
        }
        return .page(
            "Quartet: limits",
            """
            <p><a href="/docs">All of the API</a></p>
            <h1>Limits</h1>
            <p>What a server takes from outside. A server may be started with other amounts where there is a setting. What is "per \
            server" is kept by each replica on its own, so <i>n</i> replicas allow <i>n</i> times as much. <code>/metrics</code> \
            counts how often each was hit, as <code>quartet_limits_hit_total</code> with the label in the fourth column.</p>
            <table>
            <tr><th>what</th><th>at most</th><th>per</th><th>beyond that</th><th>setting</th></tr>
            \(rows)</table>
            """)
    }

    private func hit(_ hit: LimitHit) -> HTML {
        switch hit {
        case .refused(let code), .wrong(let code):
            "<a href=\"/docs/errors/\(code.rawValue)\">\(code.rawValue)</a>\(hit.note)"
        case .ended(let word): "<code>\(word.rawValue)</code>\(hit.note)"
        case .uncounted, .cut: "\(hit.note)"
        }
    }

    // MARK: Errors

    private func row(_ code: APIError.Code) -> HTML {
        """
        <tr><td><a href="/docs/errors/\(code.rawValue)">\(code.rawValue)</a></td><td>\(code.httpStatus)</td>\
        <td>\(code.sentence)</td></tr>

        """
    }

    func error(_ code: APIError.Code) -> HTML {
        let refused = declarations.filter { $0.codes.contains(code) }.map { declaration -> HTML in
            "<li><a href=\"/docs#\(declaration.name)\">\(declaration.name)</a></li>\n"
        }
        let list: HTML =
            refused.isEmpty
            ? "<p>No request of apps is refused with it; services use it among themselves.</p>"
            : "<h2>Where it may occur</h2>\n<ul class=\"names\">\n\(refused)</ul>"
        let grpc = "\(code.grpcStatus)"
        return .page(
            "Quartet: \(code.rawValue)",
            """
            <p><a href="/docs#errors">All errors</a></p>
            <h1>\(code.rawValue)</h1>
            <p class="sentence">\(code.sentence)</p>
            <table>
            <tr><th>HTTP</th><td>\(code.httpStatus)</td></tr>
            <tr><th>gRPC</th><td>\(grpc)</td></tr>
            <tr><th>Sending it again</th><td>\(code.retry.words)</td></tr>
            </table>
            \(list)
            """)
    }
}

extension Endpoint.Declaration {
    /// Everything of it that will go away, by its name.
    fileprivate var deprecations: [(name: String, deprecation: Deprecation)] {
        (deprecation.map { [(name: name, deprecation: $0)] } ?? [])
            + deprecatedFields.sorted { $0.key < $1.key }.map { (name: $0.key, deprecation: $0.value) }
    }
}

extension Access {
    fileprivate var words: String {
        switch self {
        case .open: " Needs no sign-in."
        case .signedIn: ""
        case .operators(.read): " For operators, with an API key."
        case .operators(.act): " For operators, with an API key of the role act."
        }
    }
}

extension APIError.Retry {
    fileprivate var words: String {
        switch self {
        case .no: "Not by itself: it is decided. A person may want it again later, or something else."
        case .sameKey: "Wait, then send the same request with the same Idempotency-Key."
        case .newKey: "Wait, then send the same request with a new Idempotency-Key."
        case .refreshed: "Exchange the refresh token first, then send it with the new access token."
        }
    }
}
