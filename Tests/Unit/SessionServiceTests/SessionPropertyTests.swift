import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: whatever people and timers do")
struct SessionPropertyTests {
    @Test(
        "after any commands a folded stream equals the tables, and each deadline is announced at most once (S29, S32)")
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(20, long: 200) {
                var household = Household(seed: random.next())
                household.rows.limits.devices = 3
                household.rows.limits.signedOutDevices = 2
                let accounts = [try household.person("anna"), try household.person("ben")]
                var old: [WantedTimer<SessionCommand>] = []
                for _ in 0..<400 {
                    household.pass(.minutes(Int64.random(in: 0...200, using: &random)))
                    let account = accounts.randomElement(using: &random) ?? accounts[0]
                    let timers = household.rows.wantedTimers(of: account)
                    old += random.oneIn(4) ? timers : []
                    if let timer = (random.oneIn(2) ? timers : old).randomElement(using: &random) {
                        do { try household.ask(nil, timer.command.body) } catch let error as Rejection {
                            try #require(error.code == .notDue)
                        }
                    }
                    let command = try Self.command(
                        of: account, account == accounts[0] ? "anna" : "ben", in: &household, using: &random)
                    let version = household.state(account).checkIn.version ?? 0
                    do {
                        try household.ask(account, command)
                        let daily = (command as? SetDailyCheckIns)?.expectedVersion
                        let seen = daily ?? (command as? SetCheckInInterval)?.expectedVersion
                        try #require(seen == nil || seen == version)
                    } catch is Rejection {}
                    for account in accounts {
                        let state = household.state(account)
                        try #require(household.replicas[account] == state)
                        try #require(state.devices.count <= 3)
                        if let phone = household.rows[account]?.phoneID {
                            try #require(household.rows.owner(of: phone) == account)
                        }
                        if !state.isClosed {
                            let due = try #require(state.checkIn.due)
                            if let last = state.checkIn.last { try #require(due > last) }
                        }
                    }
                }
                try Self.check(household.log.map(\.event))
            }
        }
    }

    private static func check(_ events: [SessionEvent]) throws {
        struct Told: Hashable {
            let account: AccountID
            let deadline: Instant
            let what: String
        }
        var told: Set<Told> = []
        for event in events {
            // Moving a deadline away and back brings its reminders again.
            let moved: AccountID? =
                switch event {
                case .checkInIntervalSet(let event): event.account
                case .dailyCheckInsSet(let event): event.account
                case .dailyCheckInsMoved(let event): event.account
                case .checkInsPaused(let event): event.account
                case .checkInsResumed(let event): event.account
                default: nil
                }
            if let moved { told = told.filter { $0.account != moved || ReminderLead(rawValue: $0.what) == nil } }
            // A call starts the repetitions again.
            if case .alertRaisedAgain(let event) = event {
                told = told.filter { $0.account != event.account || !$0.what.hasPrefix("\(AlarmKind.alertRaised)") }
            }
            let one: Told? =
                switch event {
                case .checkInMissed(let event): Told(account: event.account, deadline: event.deadline, what: "missed")
                case .checkInGraceBegan(let event):
                    Told(account: event.account, deadline: event.deadline, what: "grace")
                case .checkInReminded(let event):
                    Told(account: event.account, deadline: event.deadline, what: event.lead.rawValue)
                case .alarmRepeated(let event):
                    Told(account: event.account, deadline: event.since, what: "\(event.kind)\(event.repetition)")
                default: nil
                }
            if let one { try #require(told.insert(one).inserted, "told twice: \(one)") }
        }
    }

    /// What somebody may have read of the check-ins, or nothing.
    private static func seenVersion(
        of account: AccountID, in household: Household, using random: inout SeededRandom
    ) -> Int64? {
        let version = household.state(account).checkIn.version ?? 0
        return random.oneIn(2) ? version - (random.oneIn(4) ? 1 : 0) : nil
    }

    /// Any command of an account, often one that fits its state.
    static func command(
        of account: AccountID, _ handle: String, in household: inout Household, using random: inout SeededRandom
    ) throws -> any CommandBody {
        let keys = random.oneIn(2) ? ["3fa91c07"] : ["90b2d6e4", "3fa91c07"]
        let password: [Proof] = try Household.proof(random.oneIn(3) ? "wrong" : "secret", under: keys)
        let device = household.state(account).devices.randomElement(using: &random)?.id
        let source = Household.source(random.oneIn(3) ? 2 : 1)
        let known =
            try random.oneIn(3) ? device.map { KnownDevice(device: $0, token: try Household.secret("t\($0)")) } : nil
        switch Int.random(in: 0..<37, using: &random) {
        case 0: return random.oneIn(20) ? CloseAccount(by: device) : SignOut(by: device)
        case 1...4:
            return SignIn(
                handle: random.oneIn(8) ? "nobody" : handle, verifier: password, device: try household.device(),
                source: source, known: known)
        case 5...6:
            let id = device ?? household.id()
            let token = try Household.secret("t\(id)")
            return RefreshDevice(device: id, token: token, next: try Household.secret("\(household.time)"))
        case 7: return SignOut(device: device, by: device)
        case 8:
            return UpdateSecurity(isSingleDevice: random.oneIn(2), isConfirmationRequired: random.oneIn(3), by: device)
        case 9:
            return UpdateProfile(
                expectedVersion: household.state(account).profileVersion, name: random.oneIn(2) ? "Bo" : "Al")
        case 10...15: return CheckIn()
        case 16...17 where random.oneIn(2):
            let until = household.time + .hours(Int64.random(in: 0...200, using: &random))
            return random.oneIn(3) ? ResumeCheckIns() : PauseCheckIns(until: until, by: device ?? household.id())
        case 16...17 where random.oneIn(2):
            let zone = ["UTC", "Europe/Berlin", "Pacific/Auckland", "Europe/Nowhere"].randomElement(using: &random)
            return SetDailyCheckIns(
                DailySequenceTests.daily(zone ?? "UTC", using: &random),
                expectedVersion: seenVersion(of: account, in: household, using: &random))
        case 16...17:
            return SetCheckInInterval(
                interval: .hours(Int64.random(in: 1...30, using: &random)),
                expectedVersion: seenVersion(of: account, in: household, using: &random))
        case 18 where random.oneIn(2):
            return SetCheckInGrace(grace: .minutes([0, 1, 60].randomElement(using: &random) ?? 0))
        case 18 where random.oneIn(2):
            let eta = household.time + .minutes(Int64.random(in: 0...600, using: &random))
            let trip = household.state(account).trip?.id
            guard let trip, random.oneIn(2) else {
                return StartTrip(name: "Lake", eta: eta, grace: random.oneIn(2) ? .minutes(9) : nil)
            }
            return random.oneIn(2)
                ? ExtendTrip(trip: trip, eta: eta) : EndTrip(trip: trip, end: random.oneIn(2) ? .arrived : .cancelled)
        case 18: return SetCheckInReminders(reminders: ReminderLead.allCases.filter { _ in random.oneIn(2) })
        case 19 where random.oneIn(3): return RunDrill(by: device ?? household.id())
        case 19 where random.oneIn(2):
            let ping = UnansweredPing(
                contact: household.id(), sent: household.time - .minutes(Int64.random(in: 0...60, using: &random)))
            return RaiseUnansweredAlert(account: account, pings: [ping], found: household.time)
        case 20 where random.oneIn(2):
            let pings = household.state(account).unanswered?.pings ?? []
            return EndUnansweredAlert(
                account: account, pings: pings.filter { _ in random.oneIn(2) },
                answered: random.oneIn(4) ? nil : household.time - .minutes(Int64.random(in: 0...60, using: &random)))
        case 19...20:
            let late = household.time - .minutes(Int64.random(in: 0...3, using: &random))
            return RaiseAlert(pressed: random.oneIn(2) ? late : nil)
        case 21: return ClearAlert()
        case 22...27:
            return try phoneCommand(of: account, by: device, source, known, keys, in: &household, using: &random)
        case 28...33:
            return try recoveryCommand(of: account, handle, by: device, password, in: &household, using: &random)
        default:
            return ChangePassword(verifier: password, next: try Household.proof("other", under: keys[0]), by: device)
        }
    }

    private static func phoneCommand(
        of account: AccountID, by device: DeviceID?, _ source: SourceID, _ known: KnownDevice?, _ keys: [String],
        in household: inout Household, using random: inout SeededRandom
    ) throws -> any CommandBody {
        // Two phones for two people, and few digits: they meet.
        let phone = PhoneID(high: 7, low: UInt64.random(in: 0...1, using: &random))
        let digits: [Proof] = try Household.proof(random.oneIn(3) ? "222222" : "111111", under: keys)
        let earlier = [PhoneID(high: 8, low: phone.low)]
        func code(_ purpose: PhoneCodePurpose) -> PhoneCodeID {
            let source = purpose == .signIn ? Household.source() : AttemptKey.everywhere
            return household.rows.phoneCodes[PhoneCodeKey(account, purpose, from: source)]?.code ?? household.id()
        }
        switch Int.random(in: 0..<7, using: &random) {
        case 0...1:
            return RequestPhoneChange(
                phone: Phone(number: "+493012345\(phone.low)"), phoneID: phone, code: household.id(),
                proof: digits[0], by: device)
        case 2: return ChangePhone(code: code(.phoneChange), proof: digits, by: device)
        case 3:
            return RequestSignInCode(
                phone: phone, earlier: earlier, code: household.id(), proof: digits[0], source: source)
        case 4:
            return SignInByPhone(
                phone: phone, earlier: earlier, code: code(.signIn), proof: digits, device: try household.device(),
                source: source, known: known)
        case 5: return RemovePhone(by: device)
        default:
            // As if its number had this name under another key, of which there is one for each number.
            let name = household.rows[account]?.phoneID ?? phone
            return RenamePhone(phone: name, next: PhoneID(high: 15 - name.high, low: name.low), key: digits[0].key)
        }
    }

    private static func recoveryCommand(
        of account: AccountID, _ handle: String, by device: DeviceID?, _ password: [Proof],
        in household: inout Household, using random: inout SeededRandom
    ) throws -> any CommandBody {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return ConfirmIdentity(verifier: password, device: device ?? household.id())
        case 1: return RemoveAvatar()
        case 2: return MakeRecoveryCodes(proofs: try household.newRecoveryCodes(), by: device ?? household.id())
        case 3...4:
            let proof =
                try household.recoveryCodes[account]?.randomElement(using: &random) ?? Household.secret("none")
            return random.oneIn(2)
                ? SignInByRecoveryCode(handle: handle, proof: proof, device: try household.device())
                : ConfirmByRecoveryCode(proof: proof, device: device ?? household.id())
        default:
            // Any device that was ever signed in, with the last token that it had.
            let device = household.knownDevices(of: account).randomElement(using: &random)
            return UndoSecurityChanges(
                device: device?.id ?? household.id(), token: try device?.row.token ?? Household.secret("none"),
                since: random.oneIn(3) ? household.time - .days(Int64.random(in: 0...4, using: &random)) : nil)
        }
    }
}
