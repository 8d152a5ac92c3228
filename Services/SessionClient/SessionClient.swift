import Bus
import Crypto
import Foundation
import JWTKit
import Logging
import Postgres
package import ServiceKit
import ServiceLifecycle
import Vocabulary
import Webhook

/// The fourth service, which alone knows the other three: the edge that apps talk to, and what spans domains.
package struct SessionClient: Service {
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

    /// What can be configured.
    package static var settings: [any SettingDeclaration] {
        [
            host, port, connections, connectionsPerAddress, commandLimit, serverKeys, signingKeys, tokenLifetime,
            poolSize, joinPoolSize, streamWriteDeadline, unanswered, proxies, guessLimit,
            signUpLimit, phoneCodes, phoneCodesKey,
        ]
            + ConsumerSettings.declared
    }

    /// A key without which it can't work wasn't given.
    package struct MissingSetting: Error, CustomStringConvertible {
        /// Which one, and how to make it.
        package let description: String
    }

    private let context: ServiceContext
    private let serverKeys: ServerKeys
    private let signingKeys: [ES256PrivateKey]
    private let bus: Health.Check
    private let http: Health.Check

    /// - Throws: ``MissingSetting``.
    package init(_ context: ServiceContext) throws {
        guard let serverKeys = context.settings[Self.serverKeys] else {
            throw MissingSetting(
                description:
                    "set SERVER_KEY_FILE to a file with a key (head -c 32 /dev/urandom | base64), the same for "
                    + "all replicas")
        }
        let signingKeys = context.settings[Self.signingKeys]
        guard !signingKeys.isEmpty else {
            throw MissingSetting(
                description:
                    "set SIGNING_KEY_FILE to a file with a private key (openssl ecparam -genkey -name prime256v1 "
                    + "-noout), the same for all replicas")
        }
        if case .webhook(let address) = context.settings[Self.phoneCodes],
            let problem = address.problem(key: context.settings[Self.phoneCodesKey])
        {
            throw MissingSetting(description: "\(problem): set PHONE_CODES_KEY_FILE to a file with a key")
        }
        self.context = context
        self.serverKeys = serverKeys
        self.signingKeys = signingKeys
        bus = context.health.check("bus")
        http = context.health.check("http")
    }

    /// Serves apps, and runs policies and sagas, until told to stop.
    package func run() async throws {
        let (database, logger) = (context.database, context.logger)
        let doorbells = Doorbells(configuration: database, logger: logger)
        doorbells.report(to: bus)
        // Every connection may wait: after a restart all apps come back at once. A request's own time limit ends its wait.
        let pool = Pool(
            "reads", configuration: database, size: context.settings[Self.poolSize],
            waiters: context.settings[Self.connections], logger: logger)
        let joins = Pool(
            "joins", configuration: database, size: context.settings[Self.joinPoolSize], logger: logger)
        var unflushed = database
        unflushed.settings["synchronous_commit"] = "off"
        let steps = Pool("saga steps", configuration: unflushed, size: 4, logger: logger)
        let services: ServiceConnections
        let operationsLog: [Log]
        do {
            services = try await ServiceConnections { domain in
                let logs = try await context.open([domain.commands, domain.log], reportingTo: bus)
                return ServiceConnection(
                    commands: logs[0], log: logs[1], unansweredLimit: context.settings[Self.unanswered],
                    configuration: database, doorbells: doorbells, pool: pool, joins: joins,
                    logger: logger)
            }
            operationsLog = try await context.open([Domain.operations], reportingTo: bus)
        } catch is CancellationError {
            return
        }
        let operations = Tail(
            log: operationsLog[0], configuration: database, doorbells: doorbells, logger: logger)
        let sagas = SagaRunner(
            services: services, pool: pool, steps: steps, operations: operations,
            ownership: ConsumerSettings(context.settings).leaseDuration, logger: logger)
        let devices = Devices(pool: pool)
        services.session.tail.observe(where: Devices.isWanted) { devices.observe($0) }

        await context.clock.measure()
        let people = PeopleSource(session: services.session.streams, logger: logger)
        let tokens = try await Tokens(
            signingKeys: signingKeys, serverKeys: serverKeys, lifetime: context.settings[Self.tokenLifetime],
            now: { [clock = context.clock] in clock.now })
        let phoneCodes = PhoneCodes(keys: serverKeys)
        logger.info(
            "what is made now is made under the first of these server keys",
            metadata: ["keys": "\(serverKeys.all.map(\.version))"])
        let addresses = ClientAddress(proxies: context.settings[Self.proxies])
        let edge = Edge(
            EdgeParts(
                services: services, operations: StreamReader(tail: operations, pool: joins), people: people,
                streamWriteDeadline: context.settings[Self.streamWriteDeadline], sagas: sagas, pool: pool,
                devices: devices,
                tokens: tokens,
                passwords: Passwords(keys: serverKeys), contactCodes: ContactCodes(key: serverKeys.current.key),
                recoveryCodes: RecoveryCodes(key: serverKeys.current.key), phoneCodes: phoneCodes,
                phoneCodeSender: phoneCodeSender,
                guesses: Guesses(
                    limit: RateLimit(perMinute: context.settings[Self.guessLimit]), addresses: addresses),
                sources: SignInSources(addresses: addresses, tokens: tokens, key: serverKeys.current),
                signUps: RateLimit(perMinute: context.settings[Self.signUpLimit]),
                commands: RateLimit(
                    perMinute: context.settings[Self.commandLimit],
                    burst: max(1, context.settings[Self.commandLimit] / 10))))
        let server = EdgeServer(
            edge: edge, host: context.settings[Self.host], port: context.settings[Self.port],
            connections: context.settings[Self.connections],
            connectionsPerAddress: context.settings[Self.proxies] == 0
                ? context.settings[Self.connectionsPerAddress] : nil, check: http, logger: logger)

        let retention = Retention(
            schema: "session_client", logs: services.all.map(\.commands) + operationsLog, hasOutcomes: false,
            others: ["delete_old_sagas", "delete_old_uploads", "empty_secrets"],
            interval: context.settings[CommonSettings.retentionInterval], configuration: database, logger: logger)
        try await context.runTogether(
            [
                doorbells, operations, retention, LongReads(pool: pool, logger: logger),
                PhoneNames(pool: pool, session: services.session, codes: phoneCodes, logger: logger),
            ] + services.all.flatMap(\.services)
                + policies(services, doorbells) + [sagas, people, server])
        for pool in [pool, joins, steps] { await pool.close() }
    }

    private var phoneCodeSender: (any PhoneCodeSender)? {
        switch context.settings[Self.phoneCodes] {
        case .off: nil
        case .log: LoggedPhoneCodes(logger: context.logger)
        case .webhook(let address):
            WebhookPhoneCodes(webhook: Webhook(address, key: context.settings[Self.phoneCodesKey]))
        }
    }

    private func policies(_ services: ServiceConnections, _ doorbells: Doorbells) -> [any Service] {
        func consumer(of domain: Domain, _ policy: some Policy) -> any Service {
            Consumer(
                source: services[domain].log, schema: "session_client",
                settings: context.consumerSettings(of: services[domain].log),
                configuration: context.database, doorbells: doorbells, logger: context.logger,
                handler: PolicyHandler(policy, logs: services.all.map(\.commands)))
        }
        return [
            consumer(of: .session, SessionPolicy(codes: ContactCodes(key: serverKeys.current.key))),
            consumer(of: .contacts, ContactsPolicy()),
        ]
    }
}
