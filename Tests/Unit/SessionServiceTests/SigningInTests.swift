import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: accounts and devices")
struct SigningInTests {
    @Test(
        "signing up opens the account and signs its first device in; the handle is stored in its canonical form (S41)")
    func signUp() throws {
        var household = Household()
        let account = try household.person("  Änna".replacing("Ä", with: "A").uppercased())
        guard case .accountOpened(let opened) = household.log[0].event else { throw Unexpected(household.log) }
        #expect(opened.account == account && opened.handle == "anna" && opened.name == "Anna")
        #expect(household.state(account).devices.count == 1 && household.state(account).onboarding == .done)
    }

    @Test(
        "a handle that is or looks like another's is refused (S41)",
        arguments: ["anna.b", "Anna.B", "anna_b", "annab", "ａｎｎａ.b"])
    func handleTaken(other: String) throws {
        var household = Household()
        _ = try household.person("anna.b")
        let other = SignUp(
            account: household.id(), handle: other, verifier: try Household.proof("x"), device: try household.device())
        #expect(try household.rejection(nil, other) == .handleTaken)
    }

    @Test(
        "handles in misleading letters, of a wrong length, or kept for operators are refused (S41)",
        arguments: [
            "аnna", "ann\u{200B}a", "ab", "1anna", "anna-", "an na", "anna\u{0}", "quartet", "r00t", "supp0rt", "",
            "staff-anna", "quartet.support", "admin2", "a_d_m_i_n", "helpdesk", "mocleratOr", "5taff", "rnoderator",
            String(repeating: "a", count: 31), String(repeating: "a", count: 100_000),
        ])
    func handleRefused(handle: String) {
        do {
            _ = try Handle(handle)
            Issue.record("\(handle) was accepted")
        } catch {
            #expect(error.code == .invalidField && error.field == "handle")
        }
    }

    @Test(
        "a handle that only resembles a reserved word is allowed (S41)",
        arguments: ["badminton", "supportive", "anna-team", "rootbeer", "information"])
    func handleAccepted(handle: String) throws {
        #expect(try Handle(handle).description == handle)
    }

    @Test(
        "handles that look alike have one skeleton (S41)",
        arguments: [("davicl", "david"), ("c1are", "dare"), ("ann3", "anne"), ("vvanda", "wanda"), ("arnold", "amold")])
    func confusable(one: String, other: String) throws {
        #expect(try Handle(one).skeleton == Handle(other).skeleton)
    }

    @Test(
        "a name has 2 to 50 letters of any script, spaces, hyphens, apostrophes (S44)",
        arguments: [
            ("Jo", "Jo"), ("  Anna   Lena ", "Anna Lena"), ("O’Brien-Müller", "O’Brien-Müller"), ("अनन्या", "अनन्या"),
            ("李明", "李明"), ("J", nil), ("", nil), ("--", nil), ("Anna1", nil), ("Anna\u{202E}", nil), ("A<b>", nil),
            ("Anna\nLena", nil), (String(repeating: "a", count: 51), nil), ("Zoe\u{0301}", "Zoé"),
        ] as [(String, String?)])
    func name(text: String, kept: String?) {
        #expect((try? PersonName(text))?.description == kept)
    }

    @Test("a wrong password and an unknown handle get the same answer; the right one signs in (S41)")
    func signIn() throws {
        var household = Household()
        let account = try household.person()
        let wrong = SignIn(
            handle: "anna", verifier: try Household.proof("x"), device: try household.device(),
            source: Household.source())
        let events = try household.ask(nil, wrong)
        let failed = try events.first(as: SignInFailed.self)
        #expect(failed.blockedUntil == nil)
        // Counted like the wrong password, with nobody to tell.
        for handle in ["ben", "an.na"] {
            #expect(try household.ask(nil, try Self.signIn(as: handle, "x", &household)).isEmpty)
        }
        // An impossible handle belongs to no one.
        for handle in ["anna_", "аnna", "annа"] {
            #expect(try household.rejection(nil, try Self.signIn(as: handle, "x", &household)) == .invalidCredentials)
        }
        let device = try household.signIn("Anna")
        #expect(household.state(account).devices[device]?.name == "tablet")
    }

    @Test("after 5 wrong passwords even the right one is refused, for longer and longer (S41)")
    func guessing() throws {
        var household = Household()
        let account = try household.person()
        let wrong = SignIn(
            handle: "anna", verifier: try Household.proof("x"), device: try household.device(),
            source: Household.source())
        let right = SignIn(
            handle: "anna", verifier: try Household.proof("secret"), device: try household.device(),
            source: Household.source())
        for _ in 0..<5 { try household.ask(nil, wrong) }
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            household.pass(.seconds(wait * 60 - 1))
            #expect(try household.rejection(nil, right) == .tooManyAttempts)
            household.pass(.seconds(1))
            try household.ask(nil, wrong)
        }
        household.pass(.hours(1))
        #expect(try household.rejection(nil, right) == nil)
        #expect(household.rows.attempts[AttemptKey(.handle(try Handle("anna")), Household.source())] == nil)
        #expect(household.state(account).devices.count == 2)
    }

    private static func signIn(
        as handle: String = "anna", _ password: String, from source: SourceID = Household.source(),
        known: KnownDevice? = nil, _ household: inout Household
    ) throws -> any CommandBody {
        SignIn(
            handle: handle, verifier: try Household.proof(password), device: try household.device(),
            source: source,
            known: known)
    }

    @Test("a stranger's guesses lock nobody else out: they are counted by their source (S41)")
    func guessesBySource() throws {
        var household = Household()
        _ = try household.person()
        for _ in 0..<5 { try household.ask(nil, try Self.signIn("x", from: Household.source(666), &household)) }
        let stranger = try Self.signIn("secret", from: Household.source(666), &household)
        #expect(try household.rejection(nil, stranger) == .tooManyAttempts)
        let owner = try Self.signIn("secret", from: Household.source(1), &household)
        #expect(try household.rejection(nil, owner) == nil)
    }

    @Test("guessing from many addresses is slowed, and doesn't delay a known device (S41)")
    func guessesFromEverywhere() throws {
        var household = Household()
        let account = try household.person()
        let phone = try household.device()
        try household.ask(
            nil,
            SignIn(
                handle: "anna", verifier: try Household.proof("secret"), device: phone, source: Household.source()))
        try household.ask(account, SignOut(device: phone.id, by: phone.id))
        // The owner's sign-ins don't give the attacker more tries.
        for number in 1...100 {
            try household.ask(nil, try Self.signIn("x", from: Household.source(UInt64(number)), &household))
        }
        try household.signIn()
        try household.ask(nil, try Self.signIn("x", from: Household.source(101), &household))
        let elsewhere = try Self.signIn("secret", from: Household.source(200), &household)
        #expect(try household.rejection(nil, elsewhere) == .tooManyAttempts)
        let known = KnownDevice(device: phone.id, token: phone.token)
        let forged = KnownDevice(device: phone.id, token: try Household.secret("forged"))
        let byForged = try Self.signIn("secret", from: Household.source(200), known: forged, &household)
        #expect(try household.rejection(nil, byForged) == .tooManyAttempts)
        let byKnown = try Self.signIn("secret", from: Household.source(200), known: known, &household)
        #expect(try household.rejection(nil, byKnown) == nil)
        // Its own guesses are counted like anybody's.
        for _ in 0..<5 {
            try household.ask(nil, try Self.signIn("x", from: Household.source(200), known: known, &household))
        }
        let blocked = try Self.signIn("secret", from: Household.source(201), known: known, &household)
        #expect(try household.rejection(nil, blocked) == .tooManyAttempts)
        household.pass(.days(1))
        #expect(
            try household.rejection(nil, try Self.signIn("secret", &household)) == nil, "a day later it is forgotten")
    }

    @Test("an unknown handle is slowed like a known one: the same answers in the same order (S41)")
    func unknownHandle() throws {
        var household = Household()
        _ = try household.person("anna")
        func answers(_ handle: String) throws -> [String] {
            var answers: [String] = []
            for number in 0..<130 {
                let source = Household.source(number < 12 ? 3 : UInt64(number))
                let command = try Self.signIn(as: handle, "x", from: source, &household)
                do {
                    try household.ask(nil, command)
                    answers.append("wrong")
                } catch let rejection as Rejection {
                    answers.append("\(rejection.code) \(rejection.message) \(rejection.retryAfter as Any)")
                    if number < 12 { household.pass(.minutes(1)) }
                }
            }
            return answers
        }
        let known = try answers("anna")
        household.pass(.days(1))
        #expect(try answers("nobody") == known)
        #expect(Set(known).count > 3)
    }

    @Test("a token is exchanged for the next; using it again signs the device out (S42)")
    func refresh() throws {
        var household = Household()
        let account = try household.person()
        let device = try household.device()
        try household.ask(
            nil,
            SignIn(
                handle: "anna", verifier: try Household.proof("secret"), device: device, source: Household.source()
            ))
        func refresh(_ token: String, _ next: String) throws -> any CommandBody {
            RefreshDevice(device: device.id, token: try Household.secret(token), next: try Household.secret(next))
        }
        let first = RefreshDevice(device: device.id, token: device.token, next: try Household.secret("2"))
        household.pass(.minutes(15))
        #expect(try household.ask(account, first).first(as: DeviceRefreshed.self).isFirstOfDay == nil)
        #expect(household.state(account).devices[device.id]?.lastSeen == household.time)
        try household.ask(account, try refresh("2", "3"))
        #expect(try household.rejection(account, try refresh("9", "10")) == .invalidToken)
        household.pass(.days(1))
        let next = try household.ask(account, try refresh("3", "3b")).first(as: DeviceRefreshed.self)
        #expect(next.isFirstOfDay == true)
        let reused = try household.ask(account, try refresh("2", "4"))
        let out = try reused.first(as: DeviceSignedOut.self)
        #expect(out.reason == .tokenReused && household.state(account).devices[device.id] == nil)
        #expect(try household.rejection(account, try refresh("3", "5")) == .deviceSignedOut)
        let stranger = try household.person("ben")
        #expect(try household.rejection(stranger, try refresh("3", "5")) == .deviceSignedOut)
    }

    @Test(
        """
        several devices by default, each revocable; one at a time if the account wants, with a reason for the \
        displaced one (S43)
        """)
    func devices() throws {
        var household = Household()
        let account = try household.person()
        let first = try #require(household.state(account).devices.first?.id)
        let second = try household.signIn()
        #expect(household.state(account).devices.count == 2)
        let out = try household.ask(account, SignOut(device: first, by: second))
        #expect(out == [.deviceSignedOut(.init(account: account, device: first, reason: .revoked, at: household.time))])
        #expect(try household.ask(account, SignOut(device: first, by: second)).isEmpty)
        #expect(try household.rejection(account, SignOut(device: household.id())) == .notFound)
        try household.ask(account, UpdateSecurity(isSingleDevice: true, by: second))
        household.pass(.seconds(1))
        let third = try household.signIn()
        #expect(household.state(account).devices.map(\.id) == [third])
        do {
            try household.ask(
                account,
                RefreshDevice(
                    device: second, token: try Household.secret("t\(second)"), next: try Household.secret("n")))
            throw Unexpected("a displaced device went on")
        } catch let rejection as Rejection {
            #expect(rejection.code == .deviceSignedOut && rejection.message.contains("one at a time"))
        }
    }

    @Test("at the limit of devices the one unused for longest makes room (S43)")
    func deviceLimit() throws {
        var household = Household()
        household.rows.limits.devices = 3
        household.rows.limits.signedOutDevices = 2
        let account = try household.person()
        var ids = household.state(account).devices.map(\.id)
        for _ in 0..<6 {
            household.pass(.minutes(1))
            ids.append(try household.signIn())
        }
        #expect(Set(household.state(account).devices.map(\.id)) == Set(ids.suffix(3)))
        #expect(household.rows.deviceChanges.inserted.count == 5)
    }

    @Test("signing out of everything ends every device, the asking one first (S17)")
    func signOutAll() throws {
        var household = Household()
        let account = try household.person()
        let device = try household.signIn()
        let events = try household.ask(account, SignOut(by: device))
        #expect(events.count == 2)
        let first = try events.first(as: DeviceSignedOut.self)
        #expect(first.device == device && first.reason == .signedOut)
        #expect(household.state(account).devices.isEmpty)
        #expect(try household.ask(account, SignOut(by: device)).isEmpty)
    }

    @Test("a new password ends the other devices; the old one no longer signs in (S41)")
    func changePassword() throws {
        var household = Household()
        let account = try household.person()
        let device = try household.signIn()
        let (old, new): (Proof, Proof) = (try Household.proof("secret"), try Household.proof("new"))
        let events = try household.ask(account, ChangePassword(verifier: [new], next: old, by: device))
        _ = try events.first(as: SignInFailed.self)
        #expect(
            try household.rejection(account, ChangePassword(verifier: [old], next: old, by: device))
                == .samePassword)
        guard
            case .passwordChanged = try household.ask(
                account, ChangePassword(verifier: [old], next: new, by: device))[0]
        else { throw Unexpected("not changed") }
        #expect(household.state(account).devices.map(\.id) == [device])
        let byOld = SignIn(handle: "anna", verifier: [old], device: try household.device(), source: Household.source())
        _ = try household.ask(nil, byOld).first(as: SignInFailed.self)
        try household.signIn(password: "new")
    }

    @Test("the profile changes from the version that was seen; a stale change is refused (S45)")
    func profile() throws {
        var household = Household()
        let account = try household.person()
        try household.ask(
            account, UpdateProfile(expectedVersion: 1, name: " Anna  Lena", emergencyNote: "Diabetes\nInsulin"))
        #expect(household.state(account).name == "Anna Lena" && household.state(account).profileVersion == 2)
        #expect(
            try household.rejection(account, UpdateProfile(expectedVersion: 1, name: "Bo")) == .staleVersion)
        #expect(try household.ask(account, UpdateProfile(expectedVersion: 2, name: "Anna Lena")).isEmpty)
        #expect(try household.rejection(account, UpdateProfile(expectedVersion: 2, name: "7")) == .invalidField)
    }

    @Test("a closed account stays closed and holds nothing of the person; its handle is kept for a month (S18)")
    func close() throws {
        var household = Household()
        let account = try household.person()
        try household.ask(account, CheckIn())
        try household.ask(account, RaiseAlert())
        try household.ask(account, CloseAccount(by: try household.confirmed(account)))
        #expect(household.state(account) == AccountState(account: account, isClosed: true))
        #expect(household.rows.credentials[account] == nil && household.rows[account]?.name == nil)
        #expect(try household.ask(account, CloseAccount()).isEmpty)
        #expect(try household.rejection(account, CheckIn()) == .accountClosed)
        let signIn = SignIn(
            handle: "anna", verifier: try Household.proof("secret"), device: try household.device(),
            source: Household.source())
        #expect(try household.ask(nil, signIn).isEmpty)
        func again(_ id: AccountID) throws -> any CommandBody {
            SignUp(
                account: id, handle: "Anna", verifier: try Household.proof("x"), device: try household.device())
        }
        #expect(try household.rejection(nil, try again(account)) == .accountClosed)
        #expect(try household.rejection(nil, try again(household.id())) == .handleTaken)
        household.pass(.days(30))
        let next: AccountID = household.id()
        #expect(try household.rejection(nil, try again(next)) == nil)
        #expect(household.state(next).handle == "anna")
    }

    @Test("no event, published state or printed secret contains a proof or verifier (R21)")
    func secrets() throws {
        var household = Household()
        let account = try household.person()
        try household.signIn()
        let secret = try Household.secret("secret")
        var texts = try household.log.map { String(decoding: try $0.event.body.encoded(), as: UTF8.self) }
        texts.append("\(household.state(account))")
        texts.append("\(secret) \(String(reflecting: secret))")
        var dumped = ""
        dump(secret, to: &dumped)
        texts.append(dumped)
        let base64 = try JSON.text(of: secret)
        for text in texts {
            #expect(!text.contains(base64) && !text.contains("verifier") && !text.contains("token"))
            #expect(!text.contains("115, 101, 99"))
        }
    }
}
