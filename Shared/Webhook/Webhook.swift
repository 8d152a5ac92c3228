import AsyncHTTPClient
package import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// A webhook's URL: HTTPS and signed anywhere; without encryption or a key only on this machine.
package struct WebhookAddress: Hashable, Sendable {
    package let url: String
    private let isLoopback: Bool

    /// Returns nil for anything but the URL of a web server, and for a URL that would send documents unencrypted over a
    /// network.
    package init?(_ text: String) {
        guard let url = URL(string: text), let host = url.host(percentEncoded: false)?.lowercased(), !host.isEmpty
        else {
            return nil
        }
        let isLoopback = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
        guard url.scheme == "https" || (url.scheme == "http" && isLoopback) else { return nil }
        self.url = text
        self.isLoopback = isLoopback
    }

    /// Why sending there with this key isn't allowed; nil if it is.
    package func problem(key: SymmetricKey?) -> String? {
        key != nil || isLoopback ? nil : "requests to \(url) must be signed"
    }
}

/// Sends JSON documents to somebody else's system by HTTP, each signed and with an id by which the receiver recognises
/// repetitions.
package struct Webhook: Sendable {
    package enum Answer: Hashable, Sendable {
        /// The receiver took it.
        case taken(String)
        /// The addressee no longer exists (410).
        case gone
        /// It will never be accepted (400, 413, 415, 422).
        case refused(String)
        /// It may be accepted later.
        case unavailable(String)
    }

    private let address: WebhookAddress
    private let key: SymmetricKey?
    private static let patience: TimeAmount = .seconds(10)
    /// Doesn't follow redirections, so documents go only where the configuration says. Lives as long as the process.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = patience
        configuration.timeout.read = patience
        // As many as are sent at a time, because a document that waits for a connection uses up its time.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// - Parameter key: Shared with the receiver, who checks signatures with it.
    package init(_ address: WebhookAddress, key: SymmetricKey?) {
        self.address = address
        self.key = key
    }

    /// Sends a document once. If the answer is ``Answer/unavailable(_:)``, send it again with the same id for delivery
    /// at least once.
    ///
    /// Headers: `Idempotency-Key`, and `Quartet-Signature: t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in
    /// hexadecimal>`.
    package func post(_ body: [UInt8], id: String) async -> Answer {
        var request = HTTPClientRequest(url: address.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "idempotency-key", value: id)
        if let key {
            let seconds = Int64(Date().timeIntervalSince1970)
            let mac = HMAC<SHA256>.authenticationCode(for: Data("\(seconds).".utf8) + body, using: key)
            let hex = mac.map { String(format: "%02x", $0) }.joined()
            request.headers.add(name: "quartet-signature", value: "t=\(seconds),v1=\(hex)")
        }
        request.body = .bytes(body)
        do {
            let response = try await Self.http.execute(request, timeout: Self.patience)
            await Self.discard(response.body)
            switch response.status.code {
            case 200..<300: return .taken("it answered \(response.status.code)")
            case 410: return .gone
            case 400, 413, 415, 422: return .refused("it answered \(response.status.code)")
            // Also 401, 403 and 404: a key may be changing, or a path may be wrong for a while.
            default: return .unavailable("it answered \(response.status.code)")
            }
        } catch {
            return .unavailable("\(error)")
        }
    }

    /// Whether somebody is there.
    package enum Look: Hashable, Sendable {
        case there(String)
        case absent(String)
    }

    /// Asks for the headers alone (HEAD), unsigned and without a document, so that the receiver has nothing to do. Any answer shows that
    /// it is there.
    package func look() async -> Look {
        var request = HTTPClientRequest(url: address.url)
        request.method = .HEAD
        do {
            let response = try await Self.http.execute(request, timeout: Self.patience)
            await Self.discard(response.body)
            return .there("it answered \(response.status.code)")
        } catch {
            return .absent("\(error)")
        }
    }

    /// Reads to the end, so that the connection can be reused, but doesn't wait for a slow sender.
    private static func discard(_ body: HTTPClientResponse.Body) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await body.collect(upTo: 64 * 1024) }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }
}
