import API
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServiceKit
import Testing

@testable import SessionClientService

@Suite("Session-client: versions")
struct VersionTests {
    @Test("a client is refused only if it says that it is older than the oldest that is served (T25)")
    func oldest() throws {
        let versions = try ClientVersions("ios/1.4,web/3.0.2")
        for client in [nil, "ios/1.4", "ios/1.4.0", "ios/1.10", "ios/2", "web/3.0.2", "android/0.1"] {
            try versions.check(client)
        }
        for client in ["ios/1.3.9", "ios/1", "web/3.0.1.9"] {
            let error = #expect(throws: APIError.self) { try versions.check(client) }
            #expect(error?.code == .upgradeRequired)
        }
        let error = #expect(throws: APIError.self) { try versions.check("ios/1.3") }
        #expect(error?.detail == "ios 1.3 is too old for this server; update to 1.4 or newer.")
    }

    @Test(
        "what isn't a name and a version is refused (T25)",
        arguments: ["", "ios", "ios/", "/1", "iOS/1", "ios/1.2.3.4.5", "ios/1.x", "ios/-1", "ios/1 ", "ios/9999999"])
    func malformed(header: String) throws {
        let error = #expect(throws: APIError.self) { try ClientVersions().check(header) }
        #expect(error?.code == .badRequest && error?.field == "Quartet-Client")
        #expect(throws: SettingProblem.self) { try ClientVersions("web/1,\(header)x/1/2") }
    }

    @Test("what will go away says so when it is used: an endpoint, or a field of its body, and nothing else (T25)")
    func deprecated() throws {
        func deprecation(sunset: TimeInterval) -> Deprecation {
            Deprecation(
                since: Date(timeIntervalSince1970: 1_700_000_000), sunset: Date(timeIntervalSince1970: sunset),
                instead: "https://example.org/new")
        }
        var endpoint = Endpoint.Declaration(
            name: "SetThing", method: .post, path: "/v1/thing", access: .signedIn, summary: "", replies: [],
            limit: .commands)
        endpoint.deprecatedFields = ["old": deprecation(sunset: 784_111_777)]
        func fields(_ body: String) throws -> [String: String] {
            let context = EdgeContext(
                source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test")))
            let head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/thing")
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
            context.deprecated.note(endpoint, Array(body.utf8), of: request, context)
            let fields = context.deprecated.fields.map { ($0.name.rawName, $0.value) }
            return Dictionary(uniqueKeysWithValues: fields)
        }
        for body in [#"{"new":{"old":1}}"#, "{}", "[", "null"] { #expect(try fields(body).isEmpty, "\(body)") }
        let old = try fields(#"{"old":null}"#)
        #expect(old["Deprecation"] == "@1700000000" && old["Link"] == #"<https://example.org/new>; rel="deprecation""#)
        // The example of RFC 9110, section 5.6.7.
        #expect(old["Sunset"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        endpoint.deprecation = deprecation(sunset: 1_700_000_000)
        #expect(try fields("{}")["Sunset"] == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(try fields(#"{"old":1}"#)["Sunset"] == old["Sunset"], "what goes first")

        endpoint.body = .json(StreamTokenRequest.self)
        endpoint.deprecatedFields = ["stream": deprecation(sunset: 784_111_777)]
        let operation = try OpenAPI([endpoint]).document["paths"]?["/v1/thing"]?["post"]
        #expect(operation?["deprecated"] == true)
        let schema = operation?["requestBody"]?["content"]?["application/json"]?["schema"]
        guard case .array(let parts)? = schema?["allOf"] else {
            Issue.record("not marked: \(schema ?? .null)")
            return
        }
        #expect(parts.last?["properties"]?["stream"]?["deprecated"] == true)
    }
}
