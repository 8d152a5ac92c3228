import Foundation
import Logging
import Metrics
import NIOHTTP2
import NIOSSL
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The certificate and the private key with which the edge speaks TLS. They are read again on SIGHUP and whenever the files
/// change. New connections use the new ones; files that can't be used change nothing and are logged.
final class Certificates: Service, Sendable {
    /// The files can't be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// What is in the files.
    private struct Material: Equatable {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    private struct State {
        /// What was read last, whether or not it can be used.
        var read: Material
        /// Why the files can't be read, as it was logged.
        var problem: String?
        var contexts: Contexts
    }

    private struct Contexts {
        let serving: NIOSSLContext
        /// For connections that are refused in HTTP/1.1.
        let refusing: NIOSSLContext
        let end: Date
    }

    private let certificatePath: String
    private let keyPath: String
    private let logger: Logger
    private let end = Gauge(label: "quartet_tls_certificate_not_after_seconds")
    private let state: Mutex<State>
    /// How often the files are looked at.
    private static let interval: Duration = .seconds(2)
    /// How long before its end a certificate has to be replaced: two weeks.
    static let notice: TimeInterval = 14 * 86_400

    /// - Throws: ``Unusable``.
    init(certificatePath: String, keyPath: String, logger: Logger) throws(Unusable) {
        (self.certificatePath, self.keyPath, self.logger) = (certificatePath, keyPath, logger)
        let material = try Self.read(certificatePath, keyPath)
        state = Mutex(State(read: material, contexts: try Self.contexts(of: material)))
        report()
    }

    /// When the certificate ends.
    var notAfter: Date { state.withLock { $0.contexts.end } }
    var serving: NIOSSLContext { state.withLock { $0.contexts.serving } }
    var refusing: NIOSSLContext { state.withLock { $0.contexts.refusing } }

    func run() async throws {
        await withTaskGroup { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    self.reload(isAsked: true)
                }
            }
            group.addTask {
                try? await cancelWhenGracefulShutdown {
                    while true {
                        try await Task.sleep(for: Self.interval)
                        self.reload(isAsked: false)
                    }
                }
            }
        }
    }

    /// - Parameter isAsked: Says in the log also that nothing changed.
    private func reload(isAsked: Bool) {
        do throws(Unusable) {
            let material = try Self.read(certificatePath, keyPath)
            let isNew = state.withLock { state in
                defer { (state.read, state.problem) = (material, nil) }
                return state.read != material
            }
            guard isNew else {
                if isAsked { logger.notice("the TLS certificate and key haven't changed") }
                return
            }
            let contexts = try Self.contexts(of: material)
            state.withLock { $0.contexts = contexts }
            logger.notice("new connections use the new TLS certificate", metadata: ["path": "\(certificatePath)"])
            report()
        } catch {
            let isNews = state.withLock { state in
                defer { state.problem = error.description }
                return isAsked || state.problem != error.description
            }
            if isNews { logger.error("keeping the TLS certificate in use: \(error)") }
        }
    }

    private func report() {
        let notAfter = notAfter
        end.record(notAfter.timeIntervalSince1970)
        if notAfter.timeIntervalSinceNow < Self.notice {
            logger.warning("the TLS certificate ends soon or has ended", metadata: ["end": "\(notAfter)"])
        }
    }

    private static func read(_ certificatePath: String, _ keyPath: String) throws(Unusable) -> Material {
        func bytes(_ path: String) throws(Unusable) -> [UInt8] {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Unusable(description: "\(path) can't be read")
            }
            return Array(data)
        }
        return Material(certificate: try bytes(certificatePath), key: try bytes(keyPath))
    }

    private static let ciphers: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func contexts(of material: Material) throws(Unusable) -> Contexts {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(material.certificate), let leaf = chain.first else {
            throw Unusable(description: "the certificate's file has no certificate in PEM")
        }
        do {
            let key = try NIOSSLPrivateKey(bytes: material.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            // TLS 1.2: with authenticated encryption only (RFC 9113, section 9.2.2).
            configuration.cipherSuiteValues = ciphers
            configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
            let serving = try NIOSSLContext(configuration: configuration)
            configuration.applicationProtocols = ["http/1.1"]
            return Contexts(
                serving: serving, refusing: try NIOSSLContext(configuration: configuration),
                end: Date(timeIntervalSince1970: TimeInterval(leaf.notValidAfter)))
        } catch {
            throw Unusable(description: "the certificate and the key can't be used together: \(error)")
        }
    }
}
