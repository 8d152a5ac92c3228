import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: undoing what a thief did")
struct UndoTests {
    /// Anna's phone, and a tablet that signed in later.
    private struct Home {
        var household = Household()
        let account: AccountID
        let phone: DeviceID
        let tablet: DeviceID

        init() throws {
            account = try household.person()
            guard let first = household.state(account).devices.first?.id else { throw Unexpected("no device") }
            phone = first
            household.pass(.days(10))
            tablet = try household.signIn()
            household.pass(.days(10))
        }

        /// With the token that the device had at last.
        func undo(_ device: DeviceID, since: Instant? = nil) throws -> any CommandBody {
            UndoSecurityChanges(device: device, token: try Household.secret("t\(device)"), since: since)
        }

        mutating func confirm(_ device: DeviceID, password: String = "secret") throws {
            try household.ask(
                account, ConfirmIdentity(verifier: try Household.proof(password), device: device))
        }

        mutating func changePassword(_ old: String, _ new: String, by device: DeviceID) throws {
            try household.ask(
                account,
                ChangePassword(verifier: try Household.proof(old), next: try Household.proof(new), by: device))
        }

        mutating func changePhone(_ phone: PhoneID, by device: DeviceID) throws {
            let (code, proof): (PhoneCodeID, Proof) = (household.id(), try Household.proof("123456"))
            let number = Phone(number: "+49301234\(String(phone.description.filter(\.isNumber).suffix(3)))")
            household.pass(.minutes(1))
            try household.ask(
                account,
                RequestPhoneChange(phone: number, phoneID: phone, code: code, proof: proof, by: device))
            try household.ask(account, ChangePhone(code: code, proof: [proof], by: device))
        }

        mutating func signsIn(_ password: String) throws -> Bool {
            let command = SignIn(
                handle: "anna", verifier: try Household.proof(password), device: try household.device(),
                source: Household.source())
            guard case .deviceSignedIn = try household.ask(nil, command)[0] else { return false }
            return true
        }
    }

    @Test(
        """
        the device that a thief signed out restores password, phone, settings and codes, and signs the thief out \
        (S48)
        """)
    func takeover() throws {
        var home = try Home()
        let (own, thiefs): (PhoneID, PhoneID) = (home.household.id(), home.household.id())
        try home.confirm(home.phone)
        try home.changePhone(own, by: home.phone)
        let codes = try home.household.newRecoveryCodes()
        try home.household.ask(home.account, MakeRecoveryCodes(proofs: codes, by: home.phone))
        home.household.pass(.days(4))
        let before = home.household.state(home.account)

        // A thief with the tablet's token and the password.
        let began = home.household.time
        try home.confirm(home.tablet)
        let theirs = try home.household.newRecoveryCodes()
        try home.household.ask(home.account, MakeRecoveryCodes(proofs: theirs, by: home.tablet))
        try home.household.ask(home.account, UpdateSecurity(isConfirmationRequired: true, by: home.tablet))
        try home.changePhone(thiefs, by: home.tablet)
        try home.changePassword("secret", "stolen", by: home.tablet)
        let another = try home.household.signIn(password: "stolen")
        home.household.pass(.hours(71))

        let events = try home.household.ask(home.account, try home.undo(home.phone))
        let undone = try events.first(as: SecurityChangesUndone.self)
        #expect(undone.changes == [.recoveryCodes, .settings, .phone, .password])
        #expect(undone.since == began && undone.device == home.phone)
        let after = home.household.state(home.account)
        #expect(after.phone == before.phone && after.recoveryCodes == 10 && !after.isConfirmationRequired)
        #expect(home.household.rows.owner(of: own) == home.account && home.household.rows.owner(of: thiefs) == nil)
        #expect(after.devices.isEmpty)
        for device in [home.tablet, another, home.phone] {
            #expect(home.household.rows[home.account, device]?.reason == .undone)
        }
        #expect(try !home.signsIn("stolen"))
        #expect(try home.signsIn("secret"))
        let stolen = SignInByRecoveryCode(handle: "anna", proof: theirs[0], device: try home.household.device())
        #expect(try home.household.rejection(nil, stolen) == .invalidCredentials)
        let mine = SignInByRecoveryCode(handle: "anna", proof: codes[0], device: try home.household.device())
        #expect(try home.household.rejection(nil, mine) == nil)

        // Nobody undoes twice, nor undoes the undoing.
        for device in [home.phone, home.tablet, another] {
            #expect(try home.household.rejection(home.account, try home.undo(device)) == .deviceSignedOut)
        }
    }

    @Test("after 72 hours nothing is undone (S48)")
    func late() throws {
        var home = try Home()
        try home.changePassword("secret", "stolen", by: home.tablet)
        home.household.pass(.hours(72))
        #expect(try home.household.rejection(home.account, try home.undo(home.phone)) == .deviceSignedOut)
        #expect(try home.signsIn("stolen"))
    }

    @Test("a device that its owner signed out before can't undo, nor can one that is signed in (S48)")
    func signedOut() throws {
        for by in ["itself", "another"] {
            var home = try Home()
            let asker = by == "itself" ? home.phone : home.tablet
            try home.household.ask(home.account, SignOut(device: home.phone, by: asker))
            home.household.pass(.minutes(1))
            try home.changePassword("secret", "new", by: home.tablet)
            #expect(try home.household.rejection(home.account, try home.undo(home.phone)) == .deviceSignedOut)
            #expect(try home.household.rejection(home.account, try home.undo(home.tablet)) == .nothingToUndo)
        }
    }

    @Test("someone who signed in with a stolen password can't undo what the owner does against it (S48)")
    func younger() throws {
        var home = try Home()
        let thief = try home.household.signIn()
        home.household.pass(.hours(1))
        try home.changePassword("secret", "new", by: home.phone)
        #expect(home.household.rows[home.account, thief]?.reason == .passwordChanged)
        #expect(try home.household.rejection(home.account, try home.undo(thief)) == .nothingToUndo)
        #expect(try home.signsIn("new"))
    }

    @Test("only the device's last token undoes, and only for its own account (S48)")
    func secrets() throws {
        var home = try Home()
        let (first, second) = (try Household.secret("t\(home.phone)"), try Household.secret("second"))
        try home.household.ask(
            home.account, RefreshDevice(device: home.phone, token: first, next: second))
        try home.changePassword("secret", "stolen", by: home.tablet)
        for token in [first, try Household.secret("t\(home.tablet)")] {
            let undo = UndoSecurityChanges(device: home.phone, token: token)
            #expect(try home.household.rejection(home.account, undo) == .invalidToken)
        }
        let right = UndoSecurityChanges(device: home.phone, token: second)
        let ben = try home.household.person("ben")
        #expect(try home.household.rejection(ben, right) == .deviceSignedOut)
        #expect(try home.household.rejection(home.account, right) == nil)
    }

    @Test("a used recovery code stays used when the earlier codes are restored (S41)")
    func usedCodes() throws {
        var home = try Home()
        try home.confirm(home.phone)
        let codes = try home.household.newRecoveryCodes()
        try home.household.ask(home.account, MakeRecoveryCodes(proofs: codes, by: home.phone))
        home.household.pass(.days(4))
        try home.changePassword("secret", "stolen", by: home.tablet)
        func signIn(_ code: Secret) throws -> Rejection.Code? {
            let device = try home.household.device()
            return try home.household.rejection(
                nil, SignInByRecoveryCode(handle: "anna", proof: code, device: device))
        }
        #expect(try signIn(codes[0]) == nil)
        home.household.pass(.minutes(1))
        try home.confirm(home.tablet, password: "stolen")
        try home.household.ask(
            home.account, MakeRecoveryCodes(proofs: try home.household.newRecoveryCodes(), by: home.tablet))
        try home.household.ask(home.account, try home.undo(home.phone))
        #expect(home.household.state(home.account).recoveryCodes == 9)
        #expect(try signIn(codes[0]) == .invalidCredentials)
        #expect(try signIn(codes[1]) == nil)
    }

    @Test("a phone that belongs to someone else by now isn't taken back (S41)")
    func takenPhone() throws {
        var home = try Home()
        let own: PhoneID = home.household.id()
        try home.confirm(home.phone)
        try home.changePhone(own, by: home.phone)
        let number = try #require(home.household.state(home.account).phone)
        home.household.pass(.days(4))
        try home.confirm(home.tablet)
        try home.household.ask(home.account, RemovePhone(by: home.tablet))
        try home.changePassword("secret", "stolen", by: home.tablet)
        let ben = try home.household.person("ben")
        let (code, proof): (PhoneCodeID, Proof) = (home.household.id(), try Household.proof("123456"))
        let device = try home.household.confirmed(ben)
        try home.household.ask(
            ben,
            RequestPhoneChange(phone: number, phoneID: own, code: code, proof: proof, by: device))
        try home.household.ask(ben, ChangePhone(code: code, proof: [proof], by: device))
        try home.household.ask(home.account, try home.undo(home.phone))
        #expect(home.household.state(home.account).phone == nil && home.household.rows.owner(of: own) == ben)
    }

    @Test("undoing covers the thief's other devices from a time on; what came before stays (S48)")
    func since() throws {
        var home = try Home()
        try home.confirm(home.phone)
        try home.changePassword("secret", "mine", by: home.phone)
        home.household.pass(.hours(1))
        let began = home.household.time
        // With a copy of the phone's access token, and then by a device of their own.
        try home.confirm(home.phone, password: "mine")
        let thiefs: PhoneID = home.household.id()
        try home.changePhone(thiefs, by: home.phone)
        let thief = try home.household.signIn(password: "mine")
        try home.changePassword("mine", "stolen", by: thief)
        let undo = try home.undo(home.phone, since: began)
        let undone = try home.household.ask(home.account, undo).first(as: SecurityChangesUndone.self)
        #expect(undone.changes == [.phone, .password] && undone.phone == nil)
        #expect(try home.signsIn("mine"))
    }

    @Test("where one device may be signed in, the one that a thief displaced undoes what followed (S43)")
    func displaced() throws {
        var home = try Home()
        try home.confirm(home.phone)
        try home.household.ask(home.account, SignOut(device: home.tablet, by: home.phone))
        try home.household.ask(home.account, UpdateSecurity(isSingleDevice: true, by: home.phone))
        home.household.pass(.days(4))
        let thief = try home.household.signIn()
        #expect(home.household.rows[home.account, home.phone]?.reason == .displaced)
        #expect(try home.household.rejection(home.account, try home.undo(home.phone)) == .nothingToUndo)
        try home.changePassword("secret", "stolen", by: thief)
        #expect(try home.household.rejection(home.account, try home.undo(home.phone)) == nil)
        #expect(try home.signsIn("secret"))
    }

    @Test("signing in and out again and again doesn't push the owner's device out of the list (S48)")
    func churn() throws {
        var home = try Home()
        try home.changePassword("secret", "stolen", by: home.tablet)
        for _ in 0..<60 {
            let device = try home.household.signIn(password: "stolen")
            home.household.pass(.seconds(1))
            try home.household.ask(home.account, SignOut(device: device, by: device))
        }
        for round in 0..<30 {
            _ = try home.household.signIn(password: round == 0 ? "stolen" : "stolen \(round)")
            let old = round == 0 ? "stolen" : "stolen \(round)"
            try home.changePassword(old, "stolen \(round + 1)", by: home.tablet)
        }
        #expect(home.household.knownDevices(of: home.account).count <= 41)
        #expect(try home.household.rejection(home.account, try home.undo(home.phone)) == nil)
        #expect(try home.signsIn("secret"))
    }

    @Test("changes that can be undone are few and expire; further ones are refused, so none is lost (R21)")
    func limits() throws {
        var home = try Home()
        home.household.rows.limits.securityChanges = 3
        for number in 0..<3 {
            try home.changePassword(number == 0 ? "secret" : "\(number)", "\(number + 1)", by: home.tablet)
            home.household.pass(.hours(1))
        }
        let fourth = ChangePassword(
            verifier: try Household.proof("3"), next: try Household.proof("4"), by: home.tablet)
        #expect(try home.household.rejection(home.account, fourth) == .tooManyAttempts)
        func timers() -> [WantedTimer<SessionCommand>] {
            home.household.rows.wantedTimers(of: home.account).filter {
                $0.command == .recovery(.forgetSecurityChanges(ForgetSecurityChanges(account: home.account)))
            }
        }
        #expect(timers().map(\.due) == [home.household.time + .hours(69)])
        #expect(try home.household.rejection(nil, timers()[0].command.body) == .notDue)
        home.household.pass(.hours(70))
        #expect(try home.household.ask(nil, timers()[0].command.body).isEmpty)
        #expect(home.household.rows.securityChanges.keys.count == 1)
        home.household.pass(.hours(2))
        #expect(try home.household.ask(nil, timers()[0].command.body).isEmpty)
        #expect(home.household.rows.securityChanges.keys.isEmpty && timers().isEmpty)
    }
}
