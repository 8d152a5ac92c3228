import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOSSL
import TestKit

/// A certificate for this machine and its key, in files.
struct Certificate: Sendable {
    let folder: URL
    var certificate: String { folder.appending(path: "certificate.pem").path }
    var key: String { folder.appending(path: "key.pem").path }
    var environment: [String: String] { ["TLS_CERTIFICATE": certificate, "TLS_KEY": key] }

    static func make() async throws -> Certificate {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let made = Certificate(folder: folder)
        _ = try await openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", made.key, "-out",
            made.certificate)
        return made
    }

    func replace(with other: Certificate) throws {
        for (path, new) in [(certificate, other.certificate), (key, other.key)] {
            try Data(contentsOf: URL(filePath: new)).write(to: URL(filePath: path))
        }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

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
