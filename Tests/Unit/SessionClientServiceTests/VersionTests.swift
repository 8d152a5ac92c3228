import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import QuartetAPI
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
}
