import Bus
import Logging
import Postgres
import QuartetSessionClientOrchestration
import QuartetVocabulary
import ServiceLifecycle

/// One of the other services as session-client reaches it: asks it, and reads what it says.
struct ServiceConnection: Sendable {
    /// Where commands for it are put.
    let commands: Log
    /// What it says.
    let log: Log
    let tail: Tail
    let sender: CommandSender
    let streams: StreamReader

    init(
        commands: Log, log: Log, unansweredLimit: Int, configuration: Configuration, doorbells: Doorbells, pool: Pool,
        joins: Pool, logger: Logger
    ) {
        self.commands = commands
        self.log = log
        tail = Tail(log: log, configuration: configuration, doorbells: doorbells, logger: logger)
        sender = CommandSender(
            to: commands, tail: tail, pool: pool, unansweredLimit: unansweredLimit, configuration: configuration,
            logger: logger)
        streams = StreamReader(tail: tail, pool: joins)
    }

    /// What must run for it.
    var services: [any Service] { [tail, sender] }
}

/// The three services.
struct ServiceConnections: Sendable {
    let session: ServiceConnection
    let contacts: ServiceConnection
    let notifications: ServiceConnection

    init(_ make: (Domain) async throws -> ServiceConnection) async throws {
        session = try await make(.session)
        contacts = try await make(.contacts)
        notifications = try await make(.notifications)
    }

    subscript(domain: Domain) -> ServiceConnection {
        switch domain {
        case .session: session
        case .contacts: contacts
        case .notifications: notifications
        }
    }

    var all: [ServiceConnection] { [session, contacts, notifications] }
}
