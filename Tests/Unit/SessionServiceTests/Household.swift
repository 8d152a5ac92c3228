import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

/// The accounts of one set of tables.
typealias Household = RuleTrial<SessionReducer, AccountState>

extension Household {
    init(seed: UInt64 = 1) {
        var rows = SessionRows()
        for (name, data) in Zones.some {
            if let zone = try? ZoneRules(tzif: data) { rows.zones.add(zone, name, version: 1) }
        }
        rows.limits.zones.number = 1
        self.init(rows, of: Self.session, seed: seed)
    }

    private static var session: Service {
        Service(
            state: { AccountState(account: $0) }, fold: { $0.apply($1) },
            isLast: { if case .accountClosed = $0 { true } else { false } },
            quiet: { command, before, after in
                switch command {
                // Clean-up after an account's end, attempts to sign in, which are counted without an event, an alarm that is
                // held back or whose closing is decided too late, a call for help that comes once more, a look at daily times, and a canary,
                // which has no stream.
                case is FreeHandle, is ForgetSecurityChanges, is RenamePhone, is SignIn, is SignInByPhone,
                    is RequestSignInCode, is MissCheckIn, is MissTrip, is RaiseAlert, is SetCanary, is HoldAlarm,
                    is CloseAlarm, is RaiseUnansweredAlert, is EndUnansweredAlert, is ReviewDailyCheckIns:
                    after
                default: before
                }
            })
    }

    /// Every recovery code that was ever made, even if void by now.
    var recoveryCodes: [AccountID: [Secret]] {
        history.reduce(into: [:]) { codes, entry in
            if let made = entry.command as? MakeRecoveryCodes, let account = entry.context.account,
                case .success = entry.ended
            {
                codes[account, default: []] += made.proofs
            }
        }
    }

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
        let signedIn = try events.first(as: DeviceSignedIn.self)
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

    func state(_ account: AccountID) -> AccountState { rows.published(account) }

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
