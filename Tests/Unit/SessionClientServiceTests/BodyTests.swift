import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import QuartetAPI
import Testing

@testable import SessionClientService

@Suite("Session-client: bodies that don't come whole")
struct BodyTests {
    private static let tooLarge = APIError(.pictureTooLarge)

    /// Reads a body of which `parts` have come and nothing more comes.
    private static func read(
        _ parts: [Int], headers: HTTPFields = [:], limit: Int = 100, within time: Duration = .milliseconds(20)
    ) async throws -> [UInt8] {
        let (body, source) = RequestBody.makeStream()
        // It waits for the reader when much has come.
        let sending = Task { for count in parts { await source.yield(ByteBuffer(repeating: 1, count: count)) } }
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: "localhost", path: "/v1/sign-in", headerFields: headers)
        let context = EdgeContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test")))
        defer {
            sending.cancel()
            source.finish()
        }
        return try await Request(head: head, body: body).body(upTo: limit, within: time, context, orElse: tooLarge)
    }

    @Test("a body that stalls is given up when its time is over, and answered with 408")
    func stops() async {
        let problem = await #expect(throws: APIError.self) { try await Self.read([10, 1]) }
        #expect(problem?.code == .tooSlow)
    }

    @Test("a body that is too large, or announces it, is refused before all of it has come")
    func tooLarge() async {
        for (parts, headers) in [([60, 60], [:]), ([], [.contentLength: "101"])] as [([Int], HTTPFields)] {
            let problem = await #expect(throws: APIError.self) {
                try await Self.read(parts, headers: headers, within: .seconds(60))
            }
            #expect(problem?.code == .pictureTooLarge)
        }
    }
}
