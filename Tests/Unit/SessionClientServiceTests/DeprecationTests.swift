import Foundation
import GRPCCore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import QuartetAPI
import QuartetContractSupport
import QuartetVocabulary
import Synchronization
import Testing

@testable import SessionClientService

/// Nothing of the product is deprecated at present: these tests declare what is.
@Suite("Session-client: deprecations")
struct DeprecationTests {
    /// - Parameter sunset: In seconds since 1970.
    private static func going(at sunset: Int64) -> Deprecation {
        Deprecation(
            since: Instant(microseconds: 1_700_000_000_000_000), sunset: Instant(microseconds: sunset * 1_000_000),
            instead: "/docs#GetThing")
    }

    private static let endpoint = Endpoint.signedIn(
        "SetThing", .post, "/v1/things/{account}", "Sets a thing.", sending: StreamTokenRequest.self,
        Parameter<AccountID>.path("account", "Whose."), Parameter<String?>.text("old", "As it was.")
    ) { _, _, _, _, _ in NoContent() }

    /// The example of RFC 9110, section 5.6.7.
    private static let early: Int64 = 784_111_777
    private static let whole = endpoint.deprecated(going(at: 1_700_000_000))
    private static let parts = endpoint.deprecated(going(at: early), "old", "stream")

    private final class Lines: LogHandler, Sendable {
        let lines = Mutex<[String]>([])
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { nil }
            set {}
        }
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }

        func log(event: LogEvent) {
            let (name, client) = (event.metadata?["name"], event.metadata?["client"])
            lines.withLock { $0.append("\(event.level): \(event.message) \(name ?? "") \(client ?? "")") }
        }
    }

    /// What an answer says, and the log.
    private static func uses(
        of endpoint: Endpoint, _ parameters: [String: [String]] = [:], _ body: String = "{}"
    ) -> (fields: AnswerFields, log: [String]) {
        let (fields, lines) = (AnswerFields(), Lines())
        fields.deprecated.note(
            endpoint.declaration, parameters, Array(body.utf8), by: "ios/1.4",
            Logger(label: "test") { _ in lines })
        return (fields, lines.lines.withLock(\.self))
    }

    @Test(
        "who uses what will go away hears so, and so does the log: an endpoint, a parameter or a field, nothing else (T25)"
    )
    func noted() throws {
        for body in [#"{"new":{"stream":1}}"#, "{}", "[", "null"] {
            let (fields, log) = Self.uses(of: Self.parts, ["account": ["1"]], body)
            #expect(fields.all.isEmpty && log.isEmpty, "\(body)")
        }
        for (fields, log) in [
            Self.uses(of: Self.parts, [:], #"{"stream":null}"#), Self.uses(of: Self.parts, ["old": [""]]),
        ] {
            #expect(fields.all.map { $0.name } == ["Deprecation", "Sunset", "Link"])
            let link = #"</docs#GetThing>; rel="deprecation""#
            #expect(fields.all.map { $0.value } == ["@1700000000", "Sun, 06 Nov 1994 08:49:37 GMT", link])
            #expect(log.count == 1 && log[0].hasSuffix(" ios/1.4") && log[0].hasPrefix("info: "), "\(log)")
        }
        let both = Self.uses(of: Self.parts.deprecated(Self.going(at: 1_700_000_000)), ["old": ["x"]])
        #expect(both.log.count == 2 && both.log[0].contains(" SetThing ") && both.log[1].contains(" SetThing.old "))
        #expect(both.fields.all[1].value == "Sun, 06 Nov 1994 08:49:37 GMT", "the one that goes first")
        #expect(Self.uses(of: Self.whole).fields.all[1].value == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(Self.uses(of: Self.endpoint, ["old": ["x"]], #"{"stream":""}"#).fields.all.isEmpty)
    }

    @Test("answers and refusals over HTTP say it in their header fields, those over gRPC in their metadata (T25)")
    func carried() async throws {
        let router = Router(context: EdgeContext.self)
        router.add(
            middleware: ResponseHeaders(
                origins: .none, strictTransportAge: .zero, isEncrypted: false, isBehindProxies: false, drain: Drain()))
        router.add(middleware: Problems(answers: nil, refusals: RefusalPace(), addresses: ClientAddress(proxies: 0)))
        for (path, error) in [("answer", nil), ("refusal", APIError(.notFound))] as [(RouterPath, APIError?)] {
            router.get(path) { _, context in
                context.fields.deprecated.note(Self.whole.declaration, [:], by: nil, context.logger)
                if let error { throw error }
                return Response(status: .ok)
            }
        }
        let responder = router.buildResponder()
        for path in ["/answer", "/refusal"] {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
            let response = try await responder.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
                context: EdgeContext(
                    source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))))
            #expect(response.headers[try #require(HTTPField.Name("Deprecation"))] == "@1700000000", "\(path)")
            #expect(response.headers[try #require(HTTPField.Name("Sunset"))] != nil, "\(path)")
        }
        var metadata = Metadata()
        metadata.add(Self.uses(of: Self.whole).fields)
        #expect(metadata.text("deprecation") == "@1700000000" && metadata.text("sunset") != nil)
        #expect(metadata.text("link") == #"</docs#GetThing>; rel="deprecation""#)
    }

    @Test("the documents say it: OpenAPI, the pages for people, and the proto, where fields keep their numbers (T25)")
    func described() throws {
        func operation(_ endpoint: Endpoint) throws -> JSONValue? {
            try OpenAPI([endpoint.declaration]).document["paths"]?["/v1/things/{account}"]?["post"]
        }
        #expect(try operation(Self.endpoint)?["deprecated"] == nil)
        #expect(try operation(Self.whole)?["deprecated"] == true)
        let marked = try operation(Self.parts)
        #expect(marked?["deprecated"] == nil)
        guard case .array(let parameters)? = marked?["parameters"],
            case .array(let parts)? =
                marked?["requestBody"]?["content"]?["application/json"]?["schema"]?["allOf"]
        else {
            Issue.record("not marked: \(marked ?? .null)")
            return
        }
        #expect(parameters.filter { $0["deprecated"] == true }.map { $0["name"] } == ["old"])
        #expect(parts.last?["properties"] == ["stream": ["deprecated": true]])

        let page = "\(try DocumentPages(declarations: [Self.parts.declaration], objects: [:]).endpoints())"
        #expect(page.contains("<code>stream</code>: Deprecated since 2023-11-14"))

        let proto = try ProtoFile([Self.endpoint.declaration], keeping: "").proto
        #expect(!proto.contains("deprecated"))
        #expect(
            try ProtoFile([Self.whole.declaration], keeping: "").proto.contains(
                "rpc SetThing(SetThingRequest) returns (google.protobuf.Empty) {\n    option deprecated = true;\n  }\n")
        )
        let fields = try ProtoFile([Self.parts.declaration], keeping: "").proto
        #expect(fields.contains("  optional string old = 2 [deprecated = true];\n"))
        #expect(fields.contains("  optional string stream = 3 [deprecated = true];\n"))
        #expect(try ProtoFile([Self.parts.declaration], keeping: fields).proto == fields)
    }
}
