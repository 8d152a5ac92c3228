import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: undoing, whatever is done in between")
struct UndoPropertyTests {
    /// The state that a change of the account's security replaced, recorded independently of the rules.
    private struct Change {
        let kind: SecurityChangeKind
        let at: Instant
        let device: DeviceID
        let deviceSignedIn: Instant
        let before: Security
    }

    /// The state that undoing restores.
    private struct Security: Equatable {
        var password: String
        var phone: Phone?
        var isSingleDevice: Bool
        var isConfirmationRequired: Bool
        var codes: [Secret]
    }

    /// The account as an observer knows it who sees each command and its events.
    private struct Observer {
        var security = Security(
            password: "secret", phone: nil, isSingleDevice: false, isConfirmationRequired: false, codes: [])
        var changes: [Change] = []
        var signedIn: [DeviceID: Instant] = [:]
        var signedOut: [DeviceID: (at: Instant, reason: SignOutReason)] = [:]

        mutating func take(_ event: SessionEvent, of command: any CommandBody, by device: DeviceID?) throws {
            func change(_ kind: SecurityChangeKind, at: Instant) throws -> Change {
                let device = try #require(device)
                return Change(
                    kind: kind, at: at, device: device, deviceSignedIn: try #require(signedIn[device]),
                    before: security)
            }
            switch event {
            case .deviceSignedIn(let event): signedIn[event.device.id] = event.at
            case .deviceSignedOut(let event):
                signedIn[event.device] = signedIn[event.device] ?? event.at
                signedOut[event.device] = (event.at, event.reason)
            case .passwordChanged(let event):
                changes.append(try change(.password, at: event.at))
                security.password = security.password == "secret" ? "other" : "secret"
            case .phoneChanged(let event):
                changes.append(try change(.phone, at: event.at))
                security.phone = event.phone
            case .securityUpdated(let event):
                changes.append(try change(.settings, at: event.at))
                security.isSingleDevice = event.isSingleDevice
                security.isConfirmationRequired = event.isConfirmationRequired
            case .recoveryCodesMade(let event):
                changes.append(try change(.recoveryCodes, at: event.at))
                guard let command = command as? MakeRecoveryCodes else { throw Unexpected(command) }
                security.codes = command.proofs
            case .recoveryCodeUsed:
                switch command {
                case let command as SignInByRecoveryCode: strike(command.proof)
                case let command as ConfirmByRecoveryCode: strike(command.proof)
                default: throw Unexpected(command)
                }
            case .securityChangesUndone(let event): try undo(event)
            default: break
            }
        }

        private mutating func strike(_ code: Secret) {
            security.codes.removeAll { $0 == code }
            changes = changes.map { change in
                var before = change.before
                before.codes.removeAll { $0 == code }
                return Change(
                    kind: change.kind, at: change.at, device: change.device, deviceSignedIn: change.deviceSignedIn,
                    before: before)
            }
        }

        private mutating func undo(_ event: SecurityChangesUndone) throws {
            let undone = changes.suffix(event.changes.count)
            let first = try #require(undone.first)
            try #require(undone.map(\.kind) == event.changes && first.at == event.since)
            try #require(first.at + .hours(72) > event.at, "too late")
            let out = try #require(signedOut[event.device], "a device that is signed in undid something")
            try #require(out.at + .hours(72) > event.at, "too late")
            try #require([.passwordChanged, .displaced, .tooMany].contains(out.reason), "\(out.reason)")
            let asker = try #require(signedIn[event.device])
            try #require(first.deviceSignedIn >= asker, "a younger device undid an older one's change")
            security = first.before
            changes.removeLast(event.changes.count)
            signedOut[event.device] = (out.at, .undone)
            lastUndone = (undone.map(\.device), first.at)
        }

        /// The devices that made what was undone last, and since when.
        var lastUndone: (devices: [DeviceID], since: Instant)?
    }

    @Test(
        """
        after any commands, undoing restores exactly the state before the first change, and only its device stays \
        signed in (S48)
        """)
    func random() async throws {
        try await withRandom { random in
            var undone = 0
            for _ in 0..<Soak.count(30, long: 200) {
                var household = Household(seed: random.next())
                household.rows.limits.confirmation = .hours(5)
                household.rows.limits.devices = 4
                let account = try household.person()
                var observer = Observer()
                for entry in household.log { try observer.take(entry.event, of: CheckIn(), by: nil) }
                for _ in 0..<200 {
                    household.pass(.minutes(Int64.random(in: 1...240, using: &random)))
                    let device = household.state(account).devices.randomElement(using: &random)?.id
                    let command = try Self.command(
                        of: account, by: device, observer.security, in: &household, using: &random)
                    observer.lastUndone = nil
                    let events: [SessionEvent]
                    do { events = try household.ask(account, command) } catch is Rejection { continue }
                    for event in events { try observer.take(event, of: command, by: device) }
                    let state = household.state(account)
                    try #require(household.replicas[account] == state)
                    try #require(state.phone == observer.security.phone)
                    try #require(state.isSingleDevice == observer.security.isSingleDevice)
                    try #require(state.isConfirmationRequired == observer.security.isConfirmationRequired)
                    try #require(state.recoveryCodes == observer.security.codes.count)
                    if let last = observer.lastUndone {
                        undone += 1
                        for device in state.devices {
                            try #require(!last.devices.contains(device.id) && device.signedIn < last.since)
                        }
                        let signIn = SignIn(
                            handle: "anna", verifier: try Household.proof(observer.security.password),
                            device: try household.device(), source: Household.source())
                        let signedIn = try household.ask(nil, signIn)
                        for event in signedIn { try observer.take(event, of: signIn, by: nil) }
                        _ = try signedIn.first(as: DeviceSignedIn.self)
                    }
                }
            }
            #expect(undone > 30, "the test must try what it is about")
        }
    }

    private static func command(
        of account: AccountID, by device: DeviceID?, _ security: Security, in household: inout Household,
        using random: inout SeededRandom
    ) throws -> any CommandBody {
        let password: [Proof] = try Household.proof(security.password)
        let other: Proof = try Household.proof(security.password == "secret" ? "other" : "secret")
        let code = try security.codes.randomElement(using: &random) ?? Household.secret("none")
        guard let device else {
            return random.oneIn(2)
                ? try undo(account, &household, &random)
                : SignIn(
                    handle: "anna", verifier: password, device: try household.device(), source: Household.source())
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3:
            return SignIn(
                handle: "anna", verifier: password, device: try household.device(), source: Household.source())
        case 4...5: return ConfirmIdentity(verifier: password, device: device)
        case 6...7: return ChangePassword(verifier: password, next: other, by: device)
        case 8: return ResetPassword(next: other, by: device)
        case 9: return UpdateSecurity(isSingleDevice: random.oneIn(3), by: device)
        case 10: return UpdateSecurity(isConfirmationRequired: random.oneIn(3), by: device)
        case 11:
            let phone = PhoneID(high: 7, low: UInt64.random(in: 0...2, using: &random))
            return RequestPhoneChange(
                phone: Phone(number: "+493012345\(phone.low)"), phoneID: phone, code: household.id(),
                proof: try Household.proof("1"), by: device)
        case 12:
            let key = PhoneCodeKey(account, .phoneChange)
            let code = household.rows.phoneCodes[key]?.code ?? household.id()
            return ChangePhone(code: code, proof: try Household.proof("1"), by: device)
        case 13: return RemovePhone(by: device)
        case 14: return MakeRecoveryCodes(proofs: try household.newRecoveryCodes(), by: device)
        case 15:
            return random.oneIn(2)
                ? SignInByRecoveryCode(handle: "anna", proof: code, device: try household.device())
                : ConfirmByRecoveryCode(proof: code, device: device)
        case 16: return SignOut(device: device, by: device)
        default: return try undo(account, &household, &random)
        }
    }

    /// By any device that was ever signed in, with the token that it had at last.
    private static func undo(
        _ account: AccountID, _ household: inout Household, _ random: inout SeededRandom
    ) throws -> any CommandBody {
        let asker = household.knownDevices(of: account).randomElement(using: &random)
        return UndoSecurityChanges(
            device: asker?.id ?? household.id(), token: try asker?.row.token ?? Household.secret("none"),
            since: random.oneIn(3) ? household.time - .hours(Int64.random(in: 0...100, using: &random)) : nil)
    }
}
