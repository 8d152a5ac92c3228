import Bus
import Crypto
import Foundation
import JWTKit
import Logging
import Postgres
import QuartetVocabulary
import ServiceKit
import Webhook

/// The settings of session-client.
struct SessionClientSettings: Sendable {
    private static let poolSize = Setting<Int>.int(
        "database.pool", in: 1...64, default: 8, help: "Database connections for reads.")
    private static let joinPoolSize = Setting<Int>.int(
        "database.joins", in: 1...64, default: 4,
        help: "Database connections for opening streams, so that these don't delay other requests.")
    private static let streamHeartbeat = Setting<Duration>.duration(
        "stream.heartbeat", in: .milliseconds(100)...(.seconds(30)), default: .seconds(15),
        help: "How often a stream says that it is alive and how far the server has looked.")
    private static let presenceRenewal = Setting<Duration>.duration(
        "presence.renewal", in: .milliseconds(100)...(.seconds(60)), default: .seconds(5),
        help:
            "How often this process says that it still has the connections of participants in group sessions; at most a third of session's edge lease."
    )
    private static let tokenLifetime = Setting<Duration>.duration(
        "access.token.lifetime", in: .seconds(1)...(.seconds(86_400)), default: .seconds(900),
        help: "How long an access token is valid; its streams end with it.")
    private static let serverKeys = Setting<ServerKeys?>(
        "server.key", placeholder: "BASE64", default: nil, isSecret: true,
        help:
            "A secret that all replicas share: at least 32 random bytes. Further lines may have further keys; the first one is used for everything new, and what the others made is still accepted."
    ) { text throws(SettingProblem) in try ServerKeys(text) }
    private static let signingKeys = Setting<[ES256PrivateKey]>(
        "signing.key", placeholder: "PEM", default: [], isSecret: true,
        help: "Private keys for access tokens in PEM; the first one signs, the others still verify."
    ) { text throws(SettingProblem) in
        do {
            let keys = try Tokens.signingKeys(pem: text)
            guard !keys.isEmpty else { throw Tokens.MissingKey() }
            return keys
        } catch {
            throw SettingProblem(
                expected: "P-256 private keys in PEM (openssl ecparam -genkey -name prime256v1 -noout)")
        }
    }

    private static let phoneCodes = Setting<PhoneCodeDelivery>(
        "phone.codes", placeholder: "off|log|URL", default: .off,
        help: "How to send codes to phones: not at all, to the log (for development), or in a POST to a URL."
    ) { text throws(SettingProblem) in
        switch text {
        case "off": return .off
        case "log": return .log
        default:
            guard let address = WebhookAddress(text) else {
                throw SettingProblem(
                    expected:
                        "off, log, or the https:// URL of a system that sends text messages (on this machine, http:// will do)"
                )
            }
            return .webhook(address)
        }
    }
    private static let phoneCodesKey = Setting<SymmetricKey?>(
        "phone.codes.key", placeholder: "TEXT", default: nil, isSecret: true,
        help: "The key that signs requests to the system that sends codes, which verifies them with it."
    ) { text throws(SettingProblem) in
        SymmetricKey(data: Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
    }

    private static let pushKey = Setting<String?>(
        "push.web.public.key", placeholder: "BASE64URL", default: nil,
        help:
            "The public key of PUSH_WEB_KEY_FILE, with which browsers subscribe to pushes: notifications logs it when it starts. Without it, the console offers none."
    ) { text throws(SettingProblem) in
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let digits = text.replacing("-", with: "+").replacing("_", with: "/")
        let point = Data(base64Encoded: digits + "=") ?? Data()
        guard (try? P256.Signing.PublicKey(x963Representation: point)) != nil else {
            throw SettingProblem(expected: "a public key of P-256 as an uncompressed point in base64url, 87 characters")
        }
        return text
    }

    private static let consoleFolder = Setting<String?>.text(
        "console.folder", placeholder: "FOLDER",
        help: """
            The folder of the console's files, read for each request; for working on them. By default those beside the \
            executable.
            """)

    private static let canary = Setting<Duration>.duration(
        "canary.interval", in: .zero ... .seconds(3600), default: .seconds(300),
        help:
            "How often the synthetic person of each partition is missed, to show that alarms arrive. 0s lets them rest. The same for all replicas."
    )

    /// How often canaries are missed; nil if never.
    static func canaryInterval(_ settings: Settings) -> Interval? {
        let interval = settings[canary]
        return interval == .zero ? nil : Interval(max(interval, .seconds(1)))
    }

    static var declared: [any SettingDeclaration] {
        [
            serverKeys, signingKeys, tokenLifetime, poolSize, joinPoolSize, streamHeartbeat, presenceRenewal,
            phoneCodes,
            phoneCodesKey, pushKey, consoleFolder, canary,
        ]
            + EdgeLimits.settings + HTTPSettings.declared + OperatorSettings.declared + ConsumerSettings.declared
    }

    /// A key without which it can't work wasn't given.
    struct Missing: Error, CustomStringConvertible {
        /// Which one, and how to make it.
        let description: String
    }

    let serverKeys: ServerKeys
    let signingKeys: [ES256PrivateKey]
    /// How codes get to phones; nil: not at all.
    let phoneCodeSender: (any PhoneCodeSender)?
    let http: HTTPSettings
    private let settings: Settings

    /// - Throws: ``Missing``, ``Certificates/Unusable``.
    init(_ settings: Settings, _ logger: Logger) throws {
        guard let serverKeys = settings[Self.serverKeys] else {
            throw Missing(
                description:
                    "set SERVER_KEY_FILE to a file that contains a key (head -c 32 /dev/urandom | base64), the same for "
                    + "all replicas")
        }
        signingKeys = settings[Self.signingKeys]
        guard !signingKeys.isEmpty else {
            throw Missing(
                description:
                    "set SIGNING_KEY_FILE to a file that contains a private key (openssl ecparam -genkey -name prime256v1 "
                    + "-noout), the same for all replicas")
        }
        switch settings[Self.phoneCodes] {
        case .off: phoneCodeSender = nil
        case .log: phoneCodeSender = LoggedPhoneCodes(logger: logger)
        case .webhook(let address):
            let key = settings[Self.phoneCodesKey]
            if let problem = address.problem(key: key) {
                throw Missing(description: "\(problem): set PHONE_CODES_KEY_FILE to a file that contains the key")
            }
            phoneCodeSender = WebhookPhoneCodes(webhook: Webhook(address, key: key))
        }
        self.serverKeys = serverKeys
        http = try HTTPSettings(settings, logger)
        self.settings = settings
    }

    var poolSize: Int { settings[Self.poolSize] }
    var joinPoolSize: Int { settings[Self.joinPoolSize] }
    var streamWriteDeadline: Duration { settings[EdgeLimits.streamWrite] }
    var streamHeartbeat: Duration { settings[Self.streamHeartbeat] }
    var presenceRenewal: Duration { settings[Self.presenceRenewal] }
    var unanswered: Int { settings[EdgeLimits.unanswered] }
    var tokenLifetime: Duration { settings[Self.tokenLifetime] }
    /// What browsers subscribe to pushes with.
    var pushKey: String? { settings[Self.pushKey] }
    var consoleFolder: String? { settings[Self.consoleFolder] }
    var limits: Actions.Limits {
        Actions.Limits(signUps: settings[EdgeLimits.signUps], signals: settings[EdgeLimits.signalsOfServer])
    }
    /// Wrong passwords, codes and operators' keys of an address in a minute.
    var guesses: Int { settings[EdgeLimits.guesses] }
    var requestLimits: RequestLimits {
        RequestLimits(
            perMinute: [
                .reads: settings[EdgeLimits.reads], .commands: settings[EdgeLimits.commands],
                .urgent: settings[EdgeLimits.urgent], .operations: settings[EdgeLimits.operations],
                .streams: settings[EdgeLimits.streamOpenings],
            ],
            addressFactor: settings[EdgeLimits.addressFactor])
    }
    /// The database for operators; nil if they aren't configured.
    var operators: Postgres.Configuration? { OperatorSettings.configuration(settings) }
    var canaryInterval: Interval? { Self.canaryInterval(settings) }
    /// For consumers, in the same way as in other services.
    var consumers: ConsumerSettings { ConsumerSettings(settings) }
    var retentionInterval: Duration { settings[CommonSettings.retentionInterval] }
}
