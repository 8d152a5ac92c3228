import Bus
import Crypto
import Foundation
import JWTKit
import Logging
import ServiceKit
import Vocabulary
import Webhook

/// The settings of session-client.
struct SessionClientSettings: Sendable {
    private static let host = Setting<String>.text(
        "listen.address", placeholder: "ADDRESS", default: "127.0.0.1",
        help: "The address on which the HTTP API listens.")
    private static let port = Setting<Int>.int(
        "port", in: 0...65_535, default: 8080, help: "Its port; 0 takes a free one, which the log names.")
    private static let poolSize = Setting<Int>.int(
        "database.pool", in: 1...64, default: 8, help: "Database connections for reads.")
    private static let joinPoolSize = Setting<Int>.int(
        "database.joins", in: 1...64, default: 4,
        help: "Database connections by which streams begin, so that no request waits for them.")
    private static let streamWriteDeadline = Setting<Duration>.duration(
        "stream.write.deadline", in: .milliseconds(100)...(.seconds(3600)), default: .seconds(30),
        help: "How long an app may not read what is written to its stream; then the stream is closed.")
    private static let connections = Setting<Int>.int(
        "http.connections", in: 1...100_000, default: 20_000, help: "HTTP connections at a time; more have to wait.")
    private static let connectionsPerAddress = Setting<Int>.int(
        "http.connections.per.address", in: 1...100_000, default: 1000,
        help:
            "HTTP connections at a time from one address (an IPv6 /64); more are closed. Behind proxies there is no limit."
    )
    private static let commandLimit = Setting<Int>.int(
        "commands.per.minute", in: 1...1_000_000, default: 600,
        help: "Commands and operations of one account in a minute, a tenth of them at once; more are refused (429).")
    private static let unanswered = Setting<Int>.int(
        "commands.unanswered", in: 1...100_000, default: 4096,
        help: "Commands to each service without an outcome; more are refused (503) until it catches up.")
    private static let tokenLifetime = Setting<Duration>.duration(
        "access.token.lifetime", in: .seconds(1)...(.seconds(86_400)), default: .seconds(900),
        help: "How long an access token is good for; a stream ends with it.")
    private static let serverKeys = Setting<ServerKeys?>(
        "server.key", placeholder: "BASE64", default: nil, isSecret: true,
        help:
            "32 random bytes or more that all replicas share and nobody else has. More keys on further lines: the first one makes everything, what the others made is still known."
    ) { text throws(SettingProblem) in try ServerKeys(text) }
    private static let signingKeys = Setting<[ES256PrivateKey]>(
        "signing.key", placeholder: "PEM", default: [], isSecret: true,
        help: "Private keys for access tokens, as PEM: the first one signs, the others still verify."
    ) { text throws(SettingProblem) in
        do {
            let keys = try Tokens.signingKeys(pem: text)
            guard !keys.isEmpty else { throw Tokens.MissingKey() }
            return keys
        } catch {
            throw SettingProblem(
                expected: "P-256 private keys as PEM (openssl ecparam -genkey -name prime256v1 -noout)")
        }
    }

    private static let proxies = Setting<Int>.int(
        "http.proxies", in: 0...8, default: 0,
        help: "How many proxies of yours stand in front and append to X-Forwarded-For; 0 believes no header.")
    private static let guessLimit = Setting<Int>.int(
        "guesses.per.minute", in: 1...100_000, default: 30,
        help: "Wrong passwords and codes from one address in a minute; more are refused (429).")
    private static let signUpLimit = Setting<Int>.int(
        "sign.ups.per.minute", in: 1...1_000_000, default: 60,
        help: "Accounts that one address may open in a minute; more are refused (429).")
    private static let phoneCodes = Setting<PhoneCodeDelivery>(
        "phone.codes", placeholder: "off|log|URL", default: .off,
        help: "How codes get to phones: not at all, into the log (development), or by a POST to a URL."
    ) { text throws(SettingProblem) in
        switch text {
        case "off": return .off
        case "log": return .log
        default:
            guard let address = WebhookAddress(text) else {
                throw SettingProblem(
                    expected:
                        "off, log, or the https:// URL of a system that sends text messages (http:// on this machine)")
            }
            return .webhook(address)
        }
    }
    private static let phoneCodesKey = Setting<SymmetricKey?>(
        "phone.codes.key", placeholder: "TEXT", default: nil, isSecret: true,
        help: "Shared with the system that sends codes: requests to it are signed by it."
    ) { text throws(SettingProblem) in
        SymmetricKey(data: Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
    }

    static var declared: [any SettingDeclaration] {
        [
            host, port, connections, connectionsPerAddress, commandLimit, serverKeys, signingKeys, tokenLifetime,
            poolSize, joinPoolSize, streamWriteDeadline, unanswered, proxies, guessLimit,
            signUpLimit, phoneCodes, phoneCodesKey,
        ]
            + ConsumerSettings.declared
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
    private let settings: Settings

    /// - Throws: ``Missing``.
    init(_ settings: Settings, _ logger: Logger) throws {
        guard let serverKeys = settings[Self.serverKeys] else {
            throw Missing(
                description:
                    "set SERVER_KEY_FILE to a file with a key (head -c 32 /dev/urandom | base64), the same for "
                    + "all replicas")
        }
        signingKeys = settings[Self.signingKeys]
        guard !signingKeys.isEmpty else {
            throw Missing(
                description:
                    "set SIGNING_KEY_FILE to a file with a private key (openssl ecparam -genkey -name prime256v1 "
                    + "-noout), the same for all replicas")
        }
        switch settings[Self.phoneCodes] {
        case .off: phoneCodeSender = nil
        case .log: phoneCodeSender = LoggedPhoneCodes(logger: logger)
        case .webhook(let address):
            let key = settings[Self.phoneCodesKey]
            if let problem = address.problem(key: key) {
                throw Missing(description: "\(problem): set PHONE_CODES_KEY_FILE to a file with a key")
            }
            phoneCodeSender = WebhookPhoneCodes(webhook: Webhook(address, key: key))
        }
        self.serverKeys = serverKeys
        self.settings = settings
    }

    var host: String { settings[Self.host] }
    var port: Int { settings[Self.port] }
    var connections: Int { settings[Self.connections] }
    var proxies: Int { settings[Self.proxies] }
    /// Nil behind proxies, where all connections come from theirs.
    var connectionsPerAddress: Int? { proxies == 0 ? settings[Self.connectionsPerAddress] : nil }
    var poolSize: Int { settings[Self.poolSize] }
    var joinPoolSize: Int { settings[Self.joinPoolSize] }
    var streamWriteDeadline: Duration { settings[Self.streamWriteDeadline] }
    var unanswered: Int { settings[Self.unanswered] }
    var tokenLifetime: Duration { settings[Self.tokenLifetime] }
    var limits: Actions.Limits {
        Actions.Limits(
            guesses: settings[Self.guessLimit], signUps: settings[Self.signUpLimit],
            commands: settings[Self.commandLimit])
    }
    /// For consumers, in the same way as in other services.
    var consumers: ConsumerSettings { ConsumerSettings(settings) }
    var retentionInterval: Duration { settings[CommonSettings.retentionInterval] }
}
