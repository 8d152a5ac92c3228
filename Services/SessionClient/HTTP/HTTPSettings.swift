import Logging
import ServiceKit

/// Where and how the HTTP API is served.
struct HTTPSettings: Sendable {
    private static let host = Setting<String>.text(
        "listen.address", placeholder: "ADDRESS", default: "127.0.0.1",
        help: "The address on which the HTTP API listens.")
    private static let port = Setting<Int>.int(
        "port", in: 0...65_535, default: 8080, help: "The port of the HTTP API. 0 chooses a free one and logs it.")
    private static let grpcPort = Setting<Int?>.int(
        "grpc.port", in: 0...65_535,
        help:
            "The port of the gRPC API, at the same address. 0 chooses a free one and logs it. Without one, there is no gRPC."
    )
    private static let reflection = Setting<Bool>.bool(
        "grpc.reflection", default: false,
        help: "Whether the gRPC API describes itself to anyone who asks (for development).")
    private static let certificate = Setting<String?>.text(
        "tls.certificate", placeholder: "PATH",
        help:
            "A file with the certificate and its chain in PEM, with which the HTTP API speaks TLS (1.2 or 1.3). It is read again when it changes, and on SIGHUP."
    )
    private static let key = Setting<String?>.text(
        "tls.key", placeholder: "PATH", help: "A file with the certificate's private key in PEM.")
    private static let plaintext = Setting<Plaintext>.choice(
        "plaintext", default: .loopback,
        help:
            "Where the HTTP API may be served without TLS: only to this machine, or anywhere, which lets others on the network read passwords and tokens unless a proxy speaks TLS."
    )
    private static let strictTransportAge = Setting<Duration>.duration(
        "hsts.max.age", in: .zero...(.seconds(2 * 365 * 86_400)), default: .seconds(365 * 86_400),
        help: "How long browsers that used TLS once insist on it (Strict-Transport-Security). 0s leaves it out.")
    private static let origins = Setting<WebOrigins>(
        "cors.origins", placeholder: "ORIGIN,…", default: .none,
        help:
            "Web pages that may call the HTTP API from browsers: their origins, as in https://app.example.org, separated by commas, or * for all."
    ) { text throws(SettingProblem) in try WebOrigins(text) }
    private static let proxies = Setting<Int>.int(
        "http.proxies", in: 0...8, default: 0,
        help: "How many of your own proxies append to X-Forwarded-For. With 0, the header is ignored.")

    private static let versions = Setting<ClientVersions>(
        "minimum.clients", placeholder: "NAME/VERSION,…", default: ClientVersions(),
        help:
            "The oldest versions of clients that are served, as in ios/1.4,web/3.0.2; older ones that say so in Quartet-Client are refused (426)."
    ) { text throws(SettingProblem) in try ClientVersions(text) }
    private static let drainTime = Setting<Duration>.duration(
        "drain.time", in: .zero...(.seconds(20)), default: .seconds(5),
        help:
            "How long a process that was told to stop goes on serving, while load balancers see that it isn't ready and its streams end one after the other."
    )

    private static let answerJournal = Setting<String?>.text(
        "answer.journal", placeholder: "PATH",
        help: "A file to which each kind of answer is appended once, as in HTTP SendPing 409 tooSoon (for tests).")

    static var declared: [any SettingDeclaration] {
        [
            host, port, grpcPort, reflection, certificate, key, plaintext, strictTransportAge, origins, proxies,
            versions, drainTime, answerJournal,
        ]
    }

    /// Where passwords and tokens may travel unencrypted.
    enum Plaintext: String, CaseIterable, Sendable {
        case loopback, anywhere
    }

    private let settings: Settings
    /// Nil without TLS.
    let certificates: Certificates?
    /// Nil unless tests want to know.
    let answers: AnswerJournal?

    /// - Throws: ``SessionClientSettings/Missing``, ``Certificates/Unusable``, ``AnswerJournal/Unusable``.
    init(_ settings: Settings, _ logger: Logger) throws {
        self.settings = settings
        answers = try settings[Self.answerJournal].map { path in try AnswerJournal(path: path) }
        switch (settings[Self.certificate], settings[Self.key]) {
        case (let certificate?, let key?):
            certificates = try Certificates(certificatePath: certificate, keyPath: key, logger: logger)
        case (nil, nil): certificates = nil
        default:
            throw SessionClientSettings.Missing(
                description: "TLS needs both files: set --tls-certificate (TLS_CERTIFICATE) and --tls-key (TLS_KEY)")
        }
    }

    var host: String { settings[Self.host] }
    var port: Int { settings[Self.port] }
    /// Nil for no gRPC.
    var grpcPort: Int? { settings[Self.grpcPort] }
    var describesGRPC: Bool { settings[Self.reflection] }
    var plaintext: Plaintext { settings[Self.plaintext] }
    /// How many bytes of answers may wait to be read.
    var unread: Int { settings[EdgeLimits.unreadOfServer] << 20 }
    var connections: Int { settings[EdgeLimits.connections] }
    var proxies: Int { settings[Self.proxies] }
    /// Nil behind proxies, where all connections come from theirs.
    var connectionsPerAddress: Int? { proxies == 0 ? settings[EdgeLimits.connectionsOfAddress] : nil }
    var versions: ClientVersions { settings[Self.versions] }
    var drainTime: Duration { settings[Self.drainTime] }

    func headers(_ drain: Drain) -> ResponseHeaders {
        ResponseHeaders(
            origins: settings[Self.origins], strictTransportAge: settings[Self.strictTransportAge],
            isEncrypted: certificates != nil, isBehindProxies: proxies > 0, drain: drain)
    }
}
