import Bus
import HTTPTypes
import Hummingbird
import Postgres
import Vocabulary

/// Everything that apps can call, as routes.
struct Edge: Sendable {
    private let accounts: Accounts
    private let commands: Commands
    private let operations: Operations
    private let reads: Reads
    private let history: History
    private let stream: EventStream
    private let authentication: Authentication

    init(
        services: ServiceConnections, operations: StreamReader, sagas: SagaRunner, pool: Pool, devices: Devices,
        tokens: Tokens, passwords: Passwords, contactCodes: ContactCodes
    ) {
        accounts = Accounts(services: services, passwords: passwords, tokens: tokens)
        commands = Commands(
            allowed: PublicCommands(codes: contactCodes, handles: Handles(pool: pool)), services: services)
        self.operations = Operations(sagas: sagas, pool: pool)
        reads = Reads(pool: pool, lookUps: RateLimit(perMinute: 30))
        history = History(pool: pool)
        stream = EventStream(
            sources: [
                StreamSource(name: "session", reader: services.session.streams, state: States.session),
                StreamSource(name: "contacts", reader: services.contacts.streams, state: States.contacts),
                StreamSource(
                    name: "notifications", reader: services.notifications.streams, state: States.notifications),
                StreamSource(name: "operations", reader: operations, state: States.operations),
            ],
            people: PeopleSource(contacts: services.contacts.streams, session: services.session.streams),
            devices: devices)
        authentication = Authentication(tokens: tokens, devices: devices)
    }

    /// The routes, and before them what every request goes through.
    func router() -> Router<EdgeContext> {
        let router = Router(context: EdgeContext.self)
        router.add(middleware: Problems())
        let open = router.group("v1")
        open.post("sign-up", use: accounts.signUp)
        open.post("sign-in", use: accounts.signIn)
        open.post("token", use: accounts.refresh)

        let signedIn = router.group("v1").add(middleware: authentication)
        signedIn.post("sign-out", use: accounts.signOut)
        signedIn.post("commands/{type}", use: commands.handle)
        signedIn.post("operations/{operation}", use: operations.start)
        signedIn.get("operations", use: operations.list)
        signedIn.get("operations/{operation}", use: operations.get)
        signedIn.get("account", use: reads.account)
        signedIn.get("contacts", use: reads.contacts)
        signedIn.get("contacts/{account}", use: reads.contact)
        signedIn.get("contact-codes/{code}", use: reads.contactCode)
        signedIn.get("notifications", use: history.handle)
        signedIn.get("stream", use: stream.handle)
        return router
    }
}
