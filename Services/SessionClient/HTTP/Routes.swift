import Bus
import HTTPTypes
import Hummingbird
import Postgres
import Vocabulary

/// What the edge works with.
struct EdgeParts: Sendable {
    let services: ServiceConnections
    let operations: StreamReader
    let people: PeopleSource
    /// How long a write to a stream may take before the stream is closed.
    let streamWriteDeadline: Duration
    let sagas: SagaRunner
    let pool: Pool
    let devices: Devices
    let tokens: Tokens
    let passwords: Passwords
    let contactCodes: ContactCodes
    let recoveryCodes: RecoveryCodes
    let phoneCodes: PhoneCodes
    /// Nil: no codes are sent to phones.
    let phoneCodeSender: (any PhoneCodeSender)?
    /// Wrong guesses per address and minute.
    let guesses: Guesses
    let sources: SignInSources
    /// New accounts per address and minute.
    let signUps: RateLimit<String>
    /// Commands and operations per account and minute.
    let commands: RateLimit<AccountID>
}

/// Everything that apps can call, as routes.
struct Edge: Sendable {
    private let accounts: Accounts
    private let phones: Phones
    private let confirmations: Confirmations
    private let recovery: Recovery
    private let avatars: Avatars
    private let commands: Commands
    private let operations: Operations
    private let reads: Reads
    private let history: History
    private let stream: EventStream
    private let authentication: Authentication
    private let commandLimit: CommandLimit
    private let tokens: Tokens

    init(_ parts: EdgeParts) {
        let (services, pool, handles) = (parts.services, parts.pool, Handles(pool: parts.pool))
        let lookUps = RateLimit<AccountID>(perMinute: 30)
        tokens = parts.tokens
        phones = Phones(
            services: services, codes: parts.phoneCodes, sender: parts.phoneCodeSender, guesses: parts.guesses,
            sources: parts.sources, handles: handles, requests: RateLimit(perMinute: 10))
        accounts = Accounts(
            services: services, passwords: parts.passwords, tokens: parts.tokens, phones: phones,
            guesses: parts.guesses, sources: parts.sources, handles: handles, signUps: parts.signUps,
            devices: parts.devices, sagas: parts.sagas)
        confirmations = Confirmations(
            services: services, passwords: parts.passwords, handles: handles, guesses: parts.guesses)
        recovery = Recovery(services: services, codes: parts.recoveryCodes, tokens: parts.tokens)
        avatars = Avatars(pool: pool, services: services, addresses: parts.guesses.addresses)
        reads = Reads(pool: pool, lookUps: lookUps)
        commands = Commands(
            allowed: PublicCommands(
                codes: parts.contactCodes,
                people: PeopleSearch(handles: handles, phoneCodes: parts.phoneCodes, byAccount: lookUps),
                addresses: parts.guesses.addresses, devices: parts.devices),
            services: services, current: reads)
        operations = Operations(sagas: parts.sagas, pool: pool)
        history = History(pool: pool)
        stream = EventStream(
            sources: [
                StreamSource(name: "account", reader: services.session.streams, state: States.session),
                StreamSource(
                    name: "contacts", reader: services.contacts.streams, hasContacts: true, state: States.contacts),
                StreamSource(
                    name: "notifications", reader: services.notifications.streams, state: States.notifications),
                StreamSource(name: "operations", reader: parts.operations, state: States.operations),
            ],
            people: parts.people, devices: parts.devices, writeDeadline: parts.streamWriteDeadline)
        commandLimit = CommandLimit(commands: parts.commands)
        authentication = Authentication(tokens: parts.tokens, devices: parts.devices)
    }

    /// The routes, and before them what every request goes through.
    func router() -> Router<EdgeContext> {
        let router = Router(context: EdgeContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(middleware: Problems())
        router.get(".well-known/jwks.json") { [tokens] _, _ in
            var response = Response.json(tokens.keySet)
            // A new key is published before it signs: long enough for this to have passed.
            response.headers[.cacheControl] = "public, max-age=300"
            return response
        }
        let open = router.group("v1")
        open.post("sign-up", use: accounts.signUp)
        open.post("sign-in", use: accounts.signIn)
        open.post("sign-in/codes", use: phones.requestSignIn)
        open.post("token", use: accounts.refresh)
        open.post("undo", use: recovery.undo)

        let signedIn = router.group("v1").add(middleware: authentication)
        signedIn.post("sign-out", use: accounts.signOut)
        signedIn.post("confirm", use: confirmations.confirm)
        signedIn.post("change-password", use: confirmations.changePassword)
        signedIn.post("reset-password", use: confirmations.resetPassword)
        signedIn.post("recovery-codes", use: recovery.make)
        signedIn.post("phone", use: phones.change)
        signedIn.post("phone/verification", use: phones.verify)
        let acting = signedIn.group().add(middleware: commandLimit)
        acting.post("commands/{type}", use: commands.handle)
        acting.post("operations/{operation}", use: operations.start)
        signedIn.get("operations", use: operations.list)
        signedIn.get("operations/{operation}", use: operations.get)
        signedIn.get("account", use: reads.account)
        signedIn.get("account/avatar", use: avatars.own)
        signedIn.put("account/avatar", use: avatars.upload)
        signedIn.delete("account/avatar", use: avatars.remove)
        signedIn.get("contacts", use: reads.contacts)
        signedIn.get("contacts/{account}", use: reads.contact)
        signedIn.get("contacts/{account}/avatar", use: avatars.ofContact)
        signedIn.get("contact-codes/{code}", use: reads.contactCode)
        signedIn.get("notifications", use: history.list)
        signedIn.get("notifications/{id}", use: history.get)
        signedIn.get("stream", use: stream.handle)
        return router
    }
}
