import ContractSupport
import SessionContract
import SessionRules
import StoreKit
import TestKit
import Testing
import Vocabulary

/// One whole set of tables, what each person would see who folded their stream from its beginning, and a clock that
/// sends what timers want.
struct Household {
    var rows = SessionRows()
    var time = Instant(microseconds: 1_700_000_000_000_000)
    private(set) var replicas: [AccountID: AccountState] = [:]
    private(set) var log: [(at: Instant, event: SessionEvent)] = []
    private var closed: Set<AccountID> = []
    /// Every command that was sent, and how it ended.
    private(set) var history: [(command: any CommandBody, context: CommandContext, ended: Ended)] = []
    /// Every recovery code that was ever made, void ones too.
    private(set) var recoveryCodes: [AccountID: [Secret]] = [:]
    private var random: SeededRandom

    typealias Ended = Result<[Emission<SessionEvent>], Rejection>

    init(seed: UInt64 = 1) {
        random = SeededRandom(seed: seed)
    }

    mutating func id<Subject>() -> ID<Subject> { .derived(at: time, from: Array("\(random.next())".utf8)) }

    /// An address; the same number is the same one.
    static func source(_ number: UInt64 = 1) -> SourceID { SourceID(high: 5, low: number) }

    /// The same text makes the same secret.
    static func secret(_ text: String) throws -> Secret {
        var bytes = Array(text.utf8.prefix(32))
        bytes += [UInt8](repeating: 0, count: 32 - bytes.count)
        return try #require(Secret(bytes))
    }

    /// The same under one of the server's keys.
    static func proof(_ text: String, under key: String = "3fa91c07") throws -> Proof {
        let made = key == "3fa91c07" ? text : "\(key) \(text)"
        return Proof(key: try #require(KeyVersion(key)), secret: try secret(made))
    }

    /// The same as commands have it that show it: under each key.
    static func proof(_ text: String, under keys: [String] = ["3fa91c07"]) throws -> [Proof] {
        try keys.map { try proof(text, under: $0) }
    }

    mutating func device(_ name: String = "phone") throws -> NewDevice {
        let id: DeviceID = id()
        return NewDevice(id: id, name: name, token: try Self.secret("t\(id)"))
    }

    mutating func person(_ handle: String = "anna", password: String = "secret") throws -> AccountID {
        let account: AccountID = id()
        try ask(
            nil,
            SignUp(
                account: account, handle: handle, verifier: try Self.proof(password), name: "Anna",
                device: try device()))
        return account
    }

    @discardableResult
    mutating func signIn(_ handle: String = "anna", password: String = "secret") throws -> DeviceID {
        let device = try device("tablet")
        let events = try ask(
            nil,
            SignIn(handle: handle, verifier: try Self.proof(password), device: device, source: Self.source()))
        guard case .deviceSignedIn(let signedIn) = events[0] else { throw Unexpected(events) }
        return signedIn.device.id
    }

    /// Ten codes that nobody has.
    mutating func newRecoveryCodes() throws -> [Secret] {
        try (0..<RecoveryRules.codes).map { _ in
            let code: DeviceID = id()
            return try Self.secret("\(code)")
        }
    }

    /// A device of the account that may do what needs a confirmation.
    mutating func confirmed(_ account: AccountID, password: String = "secret") throws -> DeviceID {
        guard let device = state(account).devices.first?.id else { throw Unexpected("nobody is signed in") }
        try ask(account, ConfirmIdentity(verifier: try Self.proof(password), device: device))
        return device
    }

    /// Sends a command, takes in its events, and checks what every command must keep to.
    @discardableResult
    mutating func ask(_ account: AccountID?, _ body: any CommandBody) throws -> [SessionEvent] {
        let before = rows
        let command = try SessionCommand(sent: body)
        let context = CommandContext(
            commandID: id(), account: account, key: .account(account ?? AccountID(high: 0, low: 0)), time: time)
        let emissions: [Emission<SessionEvent>]
        do throws(Rejection) {
            emissions = try SessionReducer.reduce(&rows, command, context)
            history.append((body, context, .success(emissions)))
            if let made = body as? MakeRecoveryCodes, let account {
                recoveryCodes[account, default: []] += made.proofs
            }
        } catch {
            history.append((body, context, .failure(error)))
            try #require(rows == before, "a rejected command must leave the rows as they were")
            throw error
        }
        // But for what is said to nobody: what follows the end of something, and attempts to sign in as nobody, which are
        // counted.
        switch command {
        case .account(.freeHandle), .recovery(.forgetSecurityChanges), .phone(.renamePhone), .signIn(.signIn),
            .signIn(.signInByPhone), .signIn(.requestSignInCode):
            break
        default: if emissions.isEmpty { try #require(rows == before, "what says nothing must change nothing") }
        }
        for emission in emissions {
            let stream = emission.event.account
            try #require(emission.key == .account(stream) && !closed.contains(stream))
            let read = try SessionEvent(published: emission.event)
            try #require(read == emission.event)
            replicas[stream, default: AccountState(account: stream)].apply(read)
            log.append((time, read))
            if case .accountClosed = read { closed.insert(stream) }
        }
        return emissions.map(\.event)
    }

    mutating func rejection(_ account: AccountID?, _ command: any CommandBody) throws -> Rejection.Code? {
        do {
            try ask(account, command)
            return nil
        } catch let rejection as Rejection {
            return rejection.code
        }
    }

    func state(_ account: AccountID) -> AccountState { rows.published(account) }

    mutating func pass(_ interval: Interval) { time = time + interval }

    /// Lets time pass, and timers fire when they are due.
    mutating func run(_ interval: Interval, of account: AccountID) throws {
        let end = time + interval
        while let timer = rows.wantedTimers(of: account).first, timer.due <= end {
            time = max(time, timer.due)
            let before = rows.wantedTimers(of: account)
            try ask(nil, timer.command.body)
            if rows.wantedTimers(of: account) == before { break }
        }
        time = end
    }
}

struct Unexpected: Error {
    let found: String
    init(_ found: some Any) { self.found = "\(found)" }
}
