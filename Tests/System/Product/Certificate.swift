import AsyncHTTPClient
import EdgeClient
import NIOSSL
import TestKit

extension Certificate {
    /// Runs `body` with a client that trusts this certificate alone.
    func trusted<Value: Sendable>(
        _ version: HTTPClient.Configuration.HTTPVersion = .automatic,
        upTo newest: TLSVersion? = nil, _ body: (HTTPClient) async throws -> Value
    ) async throws -> Value {
        let http = EdgeClient.connections(trusting: certificate, version: version, upTo: newest)
        do {
            let value = try await body(http)
            try await http.shutdown()
            return value
        } catch {
            try? await http.shutdown()
            throw error
        }
    }
}
