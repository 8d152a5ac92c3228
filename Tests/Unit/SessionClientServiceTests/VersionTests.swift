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

    @Test("a route that will go away says so in its answers, others don't (T25)")
    func deprecated() async throws {
        let router = Router(context: EdgeContext.self)
        let route = Deprecations.Route(
            method: .get, path: "/v1/old/{id}", since: Date(timeIntervalSince1970: 1_700_000_000),
            sunset: Date(timeIntervalSince1970: 784_111_777), instead: "https://example.org/new")
        router.add(middleware: Deprecations(routes: [route]))
        router.get("v1/old/{id}") { _, _ in Response(status: .ok) }
        router.get("v1/new/{id}") { _, _ in Response(status: .ok) }
        let responder = router.buildResponder()
        func answer(_ path: String) async throws -> Response {
            let context = EdgeContext(
                source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test")))
            let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
            return try await responder.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context)
        }
        func field(_ name: String, _ response: Response) throws -> String? {
            response.headers[try #require(HTTPField.Name(name))]
        }
        let old = try await answer("/v1/old/7")
        #expect(try field("Deprecation", old) == "@1700000000")
        // The example of RFC 9110, section 5.6.7.
        #expect(try field("Sunset", old) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(try field("Link", old) == #"<https://example.org/new>; rel="deprecation""#)
        let new = try await answer("/v1/new/7")
        #expect(try field("Deprecation", new) == nil && field("Sunset", new) == nil)
    }
}
