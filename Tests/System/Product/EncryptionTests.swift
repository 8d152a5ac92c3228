import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import RawClient
import TestKit
import Testing

/// TLS, HTTP/2, and what browsers are told.
@Suite("End to end: encryption", .timeLimit(.minutes(60)))
struct EncryptionTests {
    /// A request without sign-in: the version that answered it and its headers.
    private static func ask(_ http: HTTPClient, _ url: String) async throws -> HTTPClientResponse {
        let response = try await http.execute(
            HTTPClientRequest(url: url + "/.well-known/jwks.json"), timeout: .seconds(120))
        _ = try await response.body.collect(upTo: 1 << 16)
        return response
    }

    @Test(
        """
        over TLS, an app's stream and its requests share one connection of HTTP/2; clients that only know HTTP/1.1 are \
        served as well, and an app that leaves is noticed (T19)
        """)
    func http2() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: certificate.environment.merging(["HTTP_CONNECTIONS_PER_ADDRESS": "1"]) { $1 })
            let url = try quartet.url
            #expect(url.hasPrefix("https://"))
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { url }
                let anna = try await Device.signUp("anna", name: "Anna", at: edge)
                let views = [try await LiveView.open(anna), try await LiveView.open(anna)]
                try await anna.act("CheckIn")
                for view in views { try await view.wait("CheckedIn", in: "account") }
                let answer = try await Self.ask(http, url)
                #expect(answer.version == .http2)
                #expect(answer.headers.first(name: "strict-transport-security") == "max-age=31536000")
                #expect(answer.headers.first(name: "x-content-type-options") == "nosniff")
                #expect(answer.headers["server"].isEmpty)
                try await anna.signOut()
                for view in views {
                    let end = try await view.wait("the end") { $0.name == "end" }
                    #expect(end.data["reason"] == "signedOut")
                    try await view.waitForEnd()
                }
                let bob = try await Device.signUp("bob", name: "Bob", at: edge)
                _ = try await LiveView.open(bob)
            }
            try await Self.waitForSubscribers(0, of: quartet)
            try await certificate.trusted(.http1Only) { http in
                var answer = try await Self.ask(http, url)
                // A test can't observe when the server has closed the other connection.
                for _ in 0..<2400 where answer.status == .tooManyRequests {
                    try await Task.sleep(for: .milliseconds(50))
                    answer = try await Self.ask(http, url)
                }
                #expect(answer.version == .http1_1 && answer.status == .ok)
            }
        }
    }

    /// Waits until so many streams of accounts are followed.
    private static func waitForSubscribers(_ count: Int, of quartet: Quartet) async throws {
        var last: [String] = []
        for _ in 0..<2400 {
            last = try await quartet.metrics(of: .sessionClient).filter {
                $0.hasPrefix("quartet_subscribers{") && $0.contains("notifications.log")
            }
            if !last.isEmpty, last.allSatisfy({ $0.hasSuffix(" \(count)") }) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("waited for \(count) subscribers: \(last)")
    }

    @Test(
        """
        the certificate is replaced without a restart, files that can't be used change nothing, and versions of TLS \
        older than 1.2 are refused (T19)
        """)
    func replacing() async throws {
        let (first, second) = (try await Certificate.make(), try await Certificate.make())
        defer { for certificate in [first, second] { certificate.remove() } }
        let old = try await Certificate.make()
        defer { old.remove() }
        try old.replace(with: first)
        try await Quartet.with(services: []) { quartet in
            let edge = try await quartet.startAnother(.sessionClient, environment: first.environment)
            let url = try await quartet.url(of: edge)
            func isServed(_ certificate: Certificate, upTo newest: TLSVersion? = nil) async throws -> Bool {
                try await certificate.trusted(upTo: newest) { http in
                    do { return try await Self.ask(http, url).status == .ok } catch { return false }
                }
            }
            let (tls13, tls12) = (try await isServed(old), try await isServed(old, upTo: .tlsv12))
            #expect(tls13 && tls12)
            let tls11 = try await isServed(old, upTo: .tlsv11)
            #expect(!tls11)

            // Noticed without a signal.
            try Data("nothing".utf8).write(to: URL(filePath: first.key))
            try await edge.waitForLine(containing: "keeping the TLS certificate in use")
            let isOldServed = try await isServed(old)
            #expect(isOldServed)

            try first.replace(with: second)
            edge.send(.hangUp)
            try await edge.waitForLine(containing: "new connections use the new TLS certificate")
            let (isNew, isStillOld) = (try await isServed(second), try await isServed(old))
            #expect(isNew && !isStillOld)
            await edge.end()
        }
    }

    @Test("clients of TLS 1.2 are served with authenticated encryption, and refused with anything older (T19)")
    func ciphers() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: certificate.environment)
            for port in [try await quartet.edgePort(), try await quartet.rpcPort()] {
                let good = try await SecureConnection.open(
                    port: port,
                    ciphers: [.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256])
                await good.close()
                await #expect(throws: (any Error).self) {
                    try await SecureConnection.open(
                        port: port,
                        ciphers: [
                            .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
                            .TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
                        ])
                }
            }
        }
    }

    @Test(
        "other machines aren't served without TLS unless that was asked for, and TLS isn't begun with half of it (T19)")
    func refusals() async throws {
        try await Quartet.with(services: []) { quartet in
            let certificate = try await Certificate.make()
            defer { certificate.remove() }
            for (environment, line) in [
                (["LISTEN_ADDRESS": "0.0.0.0"], "other machines would send passwords and tokens unencrypted"),
                (["TLS_CERTIFICATE": certificate.certificate], "TLS needs both files"),
                (["TLS_CERTIFICATE": certificate.key, "TLS_KEY": certificate.key], "has no certificate in PEM"),
            ] {
                let edge = try await quartet.startAnother(.sessionClient, environment: environment)
                try await edge.waitForLine(containing: line)
                try await edge.waitForExit(.exited(1))
                await edge.end()
            }
            let open = try await quartet.startAnother(
                .sessionClient, environment: ["LISTEN_ADDRESS": "0.0.0.0", "PLAINTEXT": "anywhere"])
            try await open.waitForLine(containing: "accepts unencrypted connections from other machines")
            try await open.waitForLine(containing: "serving the HTTP API")
            await open.end()
        }
    }

    @Test("only web pages that were listed may use the API from a browser, by default none (T19)")
    func pages() async throws {
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: ["CORS_ORIGINS": "https://app.example.org"])
            func ask(_ method: String, from origin: String, at edge: EdgeClient) async throws -> EdgeClient.Reply {
                try await edge.send(
                    method, "/v1/account",
                    headers: [
                        "origin": origin, "access-control-request-method": "GET",
                        "access-control-request-headers": "authorization",
                    ])
            }
            let asked = try await ask("OPTIONS", from: "https://app.example.org", at: quartet.edge)
            #expect(asked.status == 204, "\(asked)")
            #expect(asked.headers["access-control-allow-origin"] == "https://app.example.org")
            #expect(asked.headers["access-control-allow-headers"]?.contains("Authorization") == true)
            #expect(asked.headers["vary"] == "Origin")
            let read = try await ask("GET", from: "https://app.example.org", at: quartet.edge)
            #expect(read.status == 401 && read.body["code"] == "missingToken")
            #expect(read.headers["access-control-allow-origin"] == "https://app.example.org", "errors, too")
            #expect(
                read.headers["strict-transport-security"] == nil && read.headers["x-content-type-options"] == "nosniff")
            for origin in ["https://app.example.org.evil.example", "http://app.example.org", "null"] {
                let stranger = try await ask("OPTIONS", from: origin, at: quartet.edge)
                #expect(stranger.status == 405 && stranger.headers["access-control-allow-origin"] == nil)
            }
            let closed = try await quartet.startAnother(.sessionClient)
            let other = try await ask("OPTIONS", from: "https://app.example.org", at: quartet.edge(of: closed))
            #expect(other.status == 405 && other.headers["access-control-allow-origin"] == nil)
            await closed.end()
        }
    }
}
