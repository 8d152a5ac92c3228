import Crypto
import Postgres
import QuartetVocabulary
import ServiceKit

/// Everything that apps can ask, whatever carries it: each takes a request and, where it needs one, a caller, and returns
/// a reply.
struct Actions: Sendable {
    let signingUp: SigningUp
    let signingIn: SigningIn
    let sessions: Sessions
    let phones: Phones
    let confirmations: Confirmations
    let recovery: Recovery
    let avatars: Avatars
    let uploads: Uploads
    let attachments: Attachments
    let commands: Commands
    let operations: Operations
    let reads: Reads
    let drills: DrillReads
    let groups: GroupReads
    let signals: Signals
    let history: History
    let time: ServerTime
    let streams: Streams

    /// How much one address or account may do in a minute.
    struct Limits {
        /// New accounts of an address.
        let signUps: Int
        /// Signals of this process in a second.
        let signals: Int
    }

    init(
        services: ServiceConnections, pool: Pool, sagas: SagaRunner, serverKeys: ServerKeys, tokens: Tokens,
        devices: Devices, phoneCodeSender: (any PhoneCodeSender)?, members: GroupMembers, signals: SignalBus,
        streams: Streams, clock: DatabaseClock, guesses: Guesses, limits: Limits
    ) {
        let key = serverKeys.current.key
        let (handles, passwords) = (Handles(pool: pool), Passwords(keys: serverKeys))
        let phoneCodes = PhoneCodes(keys: serverKeys)
        let sources = SignInSources(tokens: tokens, key: serverKeys.current)
        let lookUps = RateLimit<AccountID>(EdgeLimits.searches)
        sessions = Sessions(services: services, tokens: tokens, devices: devices, sagas: sagas)
        phones = Phones(
            services: services, codes: phoneCodes, sender: phoneCodeSender, guesses: guesses, sources: sources,
            handles: handles)
        signingUp = SigningUp(
            services: services, passwords: passwords, sessions: sessions, phones: phones,
            limit: RateLimit(Rate(limits.signUps, per: .minute)))
        signingIn = SigningIn(
            services: services, passwords: passwords, sessions: sessions, phoneCodes: phoneCodes, guesses: guesses,
            sources: sources, handles: handles)
        confirmations = Confirmations(
            services: services, passwords: passwords, handles: handles, guesses: guesses)
        recovery = Recovery(services: services, codes: RecoveryCodes(key: key), tokens: tokens)
        uploads = Uploads(pool: pool)
        avatars = Avatars(pool: pool, services: services, uploads: uploads)
        groups = GroupReads(pool: pool)
        attachments = Attachments(pool: pool, groups: groups)
        self.signals = Signals(
            members: members, groups: groups, bus: signals, perSecond: limits.signals, now: { clock.now })
        reads = Reads(pool: pool, groups: groups, lookUps: lookUps)
        drills = DrillReads(pool: pool)
        commands = Commands(
            services: services, contactCodes: ContactCodes(key: key),
            people: PeopleSearch(handles: handles, phoneCodes: phoneCodes, byAccount: lookUps), devices: devices,
            groups: GroupSessions(services: services, pool: pool), uploads: uploads, reads: reads,
            drills: drills)
        operations = Operations(sagas: sagas, pool: pool)
        history = History(pool: pool)
        time = ServerTime(clock: clock)
        self.streams = streams
    }
}
