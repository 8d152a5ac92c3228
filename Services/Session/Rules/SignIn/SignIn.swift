import ContractSupport
import Crypto
import SessionContract
import Vocabulary

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: SignInCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .signUp(let command): try signUp(&rows, command, context.time)
        case .signIn(let command): try signIn(&rows, command, context.time)
        case .requestSignInCode(let command): try requestSignInCode(&rows, command, context.time)
        case .signInByPhone(let command): try signInByPhone(&rows, command, context.time)
        case .signInByRecoveryCode(let command): try signInByRecoveryCode(&rows, command, context.time)
        }
    }

    static func signUp(
        _ rows: inout SessionRows, _ command: SignUp, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        if let row = rows[command.account] {
            if row.closed != nil { throw .accountClosed() }
            throw Rejection(.accountExists, "This account already exists; choose another id.", field: "account")
        }
        let handle = try Handle(command.handle)
        let name: PersonName? = if let name = command.name { try PersonName(name) } else { nil }
        if let owner = rows.owner(of: handle), let other = rows[owner] {
            guard let closed = other.closed, closed + rows.limits.handleRest <= time else {
                throw Rejection(
                    .handleTaken, "This handle, or one that looks like it, is taken; choose another.",
                    field: "handle")
            }
            rows[owner]?.handle = nil
        }
        var row = AccountRow(handle: handle, name: name?.description, opened: time)
        // Who never presses the button is missed, too.
        row.checkIn.move(to: time + row.checkIn.interval)
        rows[command.account] = row
        rows.credentials[command.account] = CredentialRow(command.verifier)
        let opened = AccountOpened(
            account: command.account, handle: handle.description, name: name?.description,
            checkInInterval: row.checkIn.interval, due: time + row.checkIn.interval, at: time)
        return [
            .accountOpened(opened), add(&rows, command.device, command.account, isFirst: true, byPassword: true, time),
        ]
    }

    static func signIn(
        _ rows: inout SessionRows, _ command: SignIn, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let handle: Handle
        do throws(Rejection) { handle = try Handle(command.handle) } catch { throw SignInFailed.rejection }
        var account = rows.owner(of: handle)
        if let owner = account, rows[owner]?.handle != handle || rows[owner]?.closed != nil { account = nil }
        let attempts = Attempts(rows, .handle(handle), of: account, from: command.source, command.known)
        if let account { try requireNew(command.device, rows, account) }
        try attempts.requireAdmitted(rows, "passwords", field: "password", time)
        // An unknown handle is counted like a known one, and there is nobody to tell.
        guard let account, let row = rows[account] else {
            attempts.fail(&rows, time)
            return []
        }
        guard isRight(command.verifier, rows, account) else {
            return [
                .signInFailed(.init(account: account, blockedUntil: attempts.fail(&rows, time), at: time))
            ]
        }
        attempts.succeed(&rows)
        renew(&rows, command.verifier, account)
        return begin(&rows, command.device, account, row, time)
    }

    /// Asked before anything is counted: a rejected command changes nothing.
    static func requireNew(_ device: NewDevice, _ rows: SessionRows, _ account: AccountID) throws(Rejection) {
        guard rows[account, device.id] == nil else {
            throw Rejection(
                .invalidField, "A device with this id signed in before; choose another id.", field: "device.id")
        }
    }

    /// Signs a device in to an account whose person proved who they are.
    static func begin(
        _ rows: inout SessionRows, _ device: NewDevice, _ account: AccountID, _ row: AccountRow, _ time: Instant,
        byPassword: Bool = true
    ) -> [SessionEvent] {
        let others = rows.signedIn(account)
        var events = [add(&rows, device, account, isFirst: false, byPassword: byPassword, time)]
        if row.isSingleDevice {
            for (id, _) in others { events.append(signOut(&rows, id, .displaced, account, time)) }
        } else if others.count >= rows.limits.devices, let oldest = others.first {
            events.append(signOut(&rows, oldest.id, .tooMany, account, time))
        }
        return events
    }

    static func changePassword(
        _ rows: inout SessionRows, _ command: ChangePassword, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard !command.verifier.contains(command.next) else {
            throw Rejection(.samePassword, "The new password must differ from the current one.", field: "next")
        }
        try requireRoomForChange(rows, account, time)
        if let failed = try prove(&rows, account, command.verifier, by: command.by, time) { return [failed] }
        return setPassword(&rows, command.next, account, by: command.by, time)
    }

    /// Sets the password and signs every device out but the one that asks.
    static func setPassword(
        _ rows: inout SessionRows, _ next: Proof, _ account: AccountID, by device: DeviceID?, _ time: Instant
    ) -> [SessionEvent] {
        record(&rows, .password, account, by: device, time)
        rows.credentials[account] = CredentialRow(next)
        var events: [SessionEvent] = [.passwordChanged(.init(account: account, at: time))]
        for (id, _) in rows.signedIn(account) where id != device {
            events.append(signOut(&rows, id, .passwordChanged, account, time))
        }
        return events
    }

    /// Nil when the password is right; what to say when it is wrong, which is counted for the device that is signed in, so
    /// that no stranger's guesses keep its person from acting.
    static func prove(
        _ rows: inout SessionRows, _ account: AccountID, _ verifier: [Proof], by device: DeviceID?, _ time: Instant
    ) throws(Rejection) -> SessionEvent? {
        guard let device, let asker = rows[account, device], asker.signedOut == nil else {
            throw Rejection(.deviceSignedOut, "This device isn't signed in; sign in again.", field: "device")
        }
        var guesses = asker.guesses
        if let until = guesses.blockedUntil, until > time {
            throw .tooManyAttempts("Too many wrong passwords", left: until - time, field: "password")
        }
        let isRight = isRight(verifier, rows, account)
        if isRight {
            guesses = GuessesRow()
        } else {
            guesses.fail(at: time, free: rows.limits.freeFailures, rows.limits)
        }
        rows[account, device]?.guesses = guesses
        if isRight { renew(&rows, verifier, account) }
        return isRight
            ? nil : .signInFailed(.init(account: account, blockedUntil: guesses.blockedUntil, at: time))
    }

    private static func isRight(_ verifier: [Proof], _ rows: SessionRows, _ account: AccountID) -> Bool {
        guard let credential = rows.credentials[account] else { return false }
        return isRight(verifier, credential.hash, madeUnder: credential.key)
    }

    /// Whether one of these is what was kept. None is, when the key isn't listed any more under which that was made.
    static func isRight(_ proofs: [Proof], _ hash: [UInt8], madeUnder key: KeyVersion) -> Bool {
        guard let proof = proofs.first(where: { $0.key == key }) else { return false }
        // Comparing a digest takes the same time wherever it differs.
        return SHA256.hash(data: proof.secret.bytes) == hash
    }

    /// Keeps a password that was right under the server's current key, where an earlier one made what is kept.
    private static func renew(_ rows: inout SessionRows, _ verifier: [Proof], _ account: AccountID) {
        guard let current = verifier.first, rows.credentials[account]?.key != current.key else { return }
        rows.credentials[account] = CredentialRow(current)
    }

    static func hash(of secret: Secret) -> [UInt8] { Array(SHA256.hash(data: secret.bytes)) }

    private static func add(
        _ rows: inout SessionRows, _ device: NewDevice, _ account: AccountID, isFirst: Bool,
        byPassword: Bool, _ time: Instant
    ) -> SessionEvent {
        // Who has just signed in has just proved who they are.
        rows[account, device.id] = DeviceRow(
            name: device.name, signedIn: time, lastSeen: time, token: device.token,
            confirmedUntil: time + rows.limits.confirmation, isConfirmedByPassword: byPassword)
        let added = Device(id: device.id, name: device.name, signedIn: time, lastSeen: time)
        return .deviceSignedIn(.init(account: account, device: added, isFirst: isFirst, at: time))
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: SignInCommand) {
        switch command {
        case .signUp(let command):
            accounts.insert(command.account)
            if let handle = try? Handle(command.handle) { skeletons.insert(handle.skeleton) }
        case .signIn(let command):
            if let handle = try? Handle(command.handle) {
                provingSkeletons.insert(handle.skeleton)
                count(.handle(handle), command.source, command.known)
            }
        case .requestSignInCode(let command):
            signingPhones.formUnion([command.phone] + (command.earlier ?? []))
            count(.phone(command.phone), command.source, command.known)
        case .signInByPhone(let command):
            signingPhones.formUnion([command.phone] + (command.earlier ?? []))
            count(.phone(command.phone), command.source, command.known)
        case .signInByRecoveryCode(let command):
            if let handle = try? Handle(command.handle) { recoveringSkeletons.insert(handle.skeleton) }
        }
    }
}

extension CredentialRow {
    /// Of a password that is set.
    fileprivate init(_ verifier: Proof) {
        self.init(key: verifier.key, hash: SessionReducer.hash(of: verifier.secret))
    }
}
