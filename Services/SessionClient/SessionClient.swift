import Bus
import Logging
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary
package import ServiceKit
import ServiceLifecycle

/// The fourth service, which alone knows the other three: the edge that apps talk to, and what spans domains.
package struct SessionClient: Service {
    /// What can be configured.
    package static var settings: [any SettingDeclaration] { SessionClientSettings.declared }

    private let context: ServiceContext
    private let settings: SessionClientSettings
    private let console: ConsoleRoutes
    private let operators: Operators?
    /// One count for everything that can be guessed.
    private let guesses: Guesses
    private let bus: Health.Check
    private let http: Health.Check

    /// - Throws: What is missing in the settings.
    package init(_ context: ServiceContext) throws {
        let settings = try SessionClientSettings(context.settings, context.logger)
        console = try ConsoleRoutes(folder: settings.consoleFolder)
        let guesses = Guesses(settings.guesses)
        operators = try settings.operators.map { configuration in
            Operators(
                configuration, queries: try NamedQueryFile(), guesses: guesses, metrics: context.metrics,
                logger: context.logger)
        }
        self.guesses = guesses
        self.settings = settings
        self.context = context
        bus = context.health.check("bus")
        http = context.health.check("http")
    }

    /// Serves apps, and runs policies and sagas, until told to stop.
    package func run() async throws {
        LimitMetrics.show()
        let (database, logger) = (context.database, context.logger)
        let doorbells = Doorbells(configuration: database, logger: logger)
        doorbells.report(to: bus)

        // Every connection may wait: after a restart all apps come back at once. A request's own time limit ends its wait.
        let pool = Pool(
            "reads", configuration: database, size: settings.poolSize, waiters: settings.http.connections,
            logger: logger)
        // Tokens and outcomes are looked up for nearly every request. No other read may keep them waiting, unless a single connection was
        // asked for.
        let lookUps =
            settings.poolSize == 1
            ? pool
            : Pool("look-ups", configuration: database, size: 4, waiters: settings.http.connections, logger: logger)
        let joins = Pool("joins", configuration: database, size: settings.joinPoolSize, logger: logger)
        // For policies and sagas: each of their transactions is atomic, and what follows from one is flushed later in the same WAL.
        var unflushed = database
        unflushed.settings["synchronous_commit"] = "off"
        let steps = Pool("saga steps", configuration: unflushed, size: 4, logger: logger)

        let services: ServiceConnections
        let operations: Tail
        do {
            services = try await ServiceConnections { domain in
                let logs = try await context.open([domain.commands, domain.log], reportingTo: bus)
                return ServiceConnection(
                    commands: logs[0], log: logs[1], unansweredLimit: settings.unanswered, configuration: database,
                    doorbells: doorbells, pool: lookUps, joins: joins, logger: logger)
            }
            let log = try await context.open(
                [LogName(schema: "session_client", table: "operations")], reportingTo: bus)[0]
            operations = Tail(log: log, configuration: database, doorbells: doorbells, logger: logger)
        } catch is CancellationError {
            return
        }
        await context.clock.measure()

        let devices = Devices(pool: lookUps)
        services.session.tail.observe(where: Devices.isWanted) { devices.observe($0) }
        let members = GroupMembers(pool: pool)
        services.session.tail.observe(where: GroupMembers.isWanted) { members.observe($0) }
        let alarms = AlarmWatch(pool: pool, health: context.health, logger: logger)
        alarms.observe(services)
        let tokens = try await Tokens(
            signingKeys: settings.signingKeys, serverKeys: settings.serverKeys, lifetime: settings.tokenLifetime,
            now: { [clock = context.clock] in clock.now })
        logger.info(
            "using these server keys, the first one for everything new",
            metadata: ["keys": "\(settings.serverKeys.all.map(\.version))"])

        let sagas = SagaRunner(
            services: services, pool: pool, steps: steps, operations: operations,
            ownership: settings.consumers.leaseDuration, logger: logger)
        let people = PeopleSource(session: services.session.streams, logger: logger)
        let drain = Drain()
        let groupReads = GroupReads(pool: joins)
        let lists = GroupLists(people: people, reads: groupReads)
        services.session.tail.observe(where: GroupLists.isWanted) { lists.observe($0) }
        let presence = Presence(
            session: services.session.sender, renewal: settings.presenceRenewal,
            now: { [clock = context.clock] in clock.now }, logger: logger)
        let groups = GroupStreams(
            reader: services.session.streams, reads: groupReads, lists: lists, presence: presence)
        services.session.tail.observe(where: GroupFollowers.isWanted) { [followers = groups.followers] in
            followers.observe($0)
        }
        let signals = SignalBus(
            configuration: database, keys: settings.serverKeys, now: { [clock = context.clock] in clock.now },
            logger: logger, deliver: SignalDelivery(to: groups.followers).deliver)
        let streams = Streams(
            sources: services.streams
                + [
                    StreamSource(
                        name: .operations, reader: StreamReader(tail: operations, pool: joins),
                        state: States.operations)
                ],
            people: people, groups: groups, devices: devices,
            extensions: StreamExtensions(pool: pool, keys: settings.serverKeys),
            writeDeadline: settings.streamWriteDeadline, heartbeat: settings.streamHeartbeat)
        let actions = Actions(
            services: services, pool: pool, sagas: sagas, serverKeys: settings.serverKeys, tokens: tokens,
            devices: devices, phoneCodeSender: settings.phoneCodeSender, members: members, signals: signals,
            streams: streams, clock: context.clock, guesses: guesses, limits: settings.limits)
        let admission = Admission(
            tokens: tokens, devices: devices, operators: operators, limits: settings.requestLimits,
            answers: StoredAnswers(pool: pool))
        let addresses = ClientAddress(proxies: settings.http.proxies)
        let refusals = RefusalPace()
        let admissions = Admissions(
            limit: settings.http.connections, perAddress: settings.http.connectionsPerAddress,
            openFiles: context.openFiles)
        if admissions.limit < settings.http.connections {
            logger.notice(
                """
                the system lets this process open too few files for \(settings.http.connections) connections; raise its limit \
                (ulimit -n, LimitNOFILE) or lower --http-connections (HTTP_CONNECTIONS)
                """, metadata: ["connections": "\(admissions.limit)", "files": "\(context.openFiles)"])
        }
        let unread = UnreadAnswers(
            limit: settings.http.unread, isSharedOut: settings.http.proxies == 0,
            patience: settings.streamWriteDeadline + .seconds(EdgeLimits.unreadTime.value))
        let server = HTTPServer(
            routes: Routes(
                actions: actions, clock: context.clock, admission: admission, addresses: addresses,
                refusals: refusals, headers: settings.http.headers(drain), drain: drain,
                versions: settings.http.versions, answers: settings.http.answers, console: console,
                pushKey: settings.pushKey),
            settings: settings.http, admissions: admissions, unread: unread, check: http, logger: logger)
        var doors: [any Service] = settings.http.certificates.map { [$0] } ?? []
        if let port = settings.http.grpcPort {
            let admission = RPCAdmission(
                admission: admission, clock: context.clock, addresses: addresses, refusals: refusals,
                versions: settings.http.versions,
                answers: settings.http.answers, logger: logger)
            doors.append(
                try RPCServer(
                    listener: RPCListener(
                        host: settings.http.host, port: port, admissions: admissions, unread: unread,
                        certificates: settings.http.certificates),
                    calls: UnaryCalls(actions: actions, admission: admission, drain: drain),
                    watch: WatchCalls(streams: streams, drain: drain, admission: admission), health: context.health,
                    describesItself: settings.http.describesGRPC, logger: logger))
        }
        let draining = Draining(
            services: doors + [server], drain: drain, time: settings.http.drainTime, logger: logger.quiet)

        let retention = Retention(
            schema: "session_client", logs: services.all.map(\.commands) + [operations.log], hasOutcomes: false,
            others: ["delete_old_sagas", "delete_old_uploads", "delete_old_stream_tokens", "empty_secrets"],
            interval: settings.retentionInterval, configuration: database, logger: logger)
        try await context.runTogether(
            [
                doorbells, operations, retention, signals, alarms, LongReads(pool: pool, logger: logger),
                CanaryKeeper(
                    pool: pool, services: services, interval: settings.canaryInterval, clock: context.clock,
                    logger: logger),
                PhoneNames(
                    pool: pool, session: services.session, codes: PhoneCodes(keys: settings.serverKeys),
                    clock: context.clock, logger: logger),
            ] + services.all.flatMap(\.services)
                + policies(services, unflushed, doorbells) + [sagas, people, presence, draining])
        for pool in [pool, lookUps, joins, steps] + (operators.map { [$0.pool] } ?? []) { await pool.close() }
    }

    private func policies(
        _ services: ServiceConnections, _ database: Configuration, _ doorbells: Doorbells
    ) -> [any Service] {
        func consumer(of domain: Domain, _ policy: some Policy, isUrgent: Bool = true) -> any Service {
            var settings = context.consumerSettings(of: services[domain].log, isUrgent: isUrgent)
            if !isUrgent {
                // Nothing before the first of these events concerns it.
                (settings.waitsForPolls, settings.beginsAtHead) = (true, true)
                settings.workers = 1
            }
            return Consumer(
                source: services[domain].log, schema: "session_client", settings: settings,
                configuration: database, doorbells: doorbells, logger: context.logger,
                handler: PolicyHandler(policy, logs: services.all.map(\.commands)))
        }
        let codes = ContactCodes(key: settings.serverKeys.current.key)
        return [
            consumer(of: .session, SessionPolicy { codes.code(for: $0, at: $1) }),
            consumer(of: .contacts, ContactsPolicy()),
            consumer(of: .notifications, NotificationsPolicy(), isUrgent: false),
        ]
    }
}

extension ServiceConnections {
    /// The streams that the services publish for each account.
    fileprivate var streams: [StreamSource] {
        [
            StreamSource(name: .account, reader: session.streams, state: States.session),
            StreamSource(name: .contacts, reader: contacts.streams, state: States.contacts),
            StreamSource(name: .notifications, reader: notifications.streams, state: States.notifications),
        ]
    }
}
