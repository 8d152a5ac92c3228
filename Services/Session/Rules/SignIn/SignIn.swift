import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

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
        guard !command.account.isCanary else {
            throw Rejection(.invalidField, "No person has such an id; choose another id.", field: "account")
        }
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
        // Someone who never checks in at all is missed, too.
        row.checkIn.move(to: CheckInDeadline(due: time + row.checkIn.interval), at: time)
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
        // An unknown handle is counted like a known one; there is no one to notify.
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

    /// Checked before anything is counted: a rejected command changes nothing.
    static func requireNew(_ device: NewDevice, _ rows: SessionRows, _ account: AccountID) throws(Rejection) {
        guard rows[account, device.id] == nil else {
            throw Rejection(
                .invalidField, "A device with this id signed in before; choose another id.", field: "device.id")
        }
    }

    /// Signs in a device of a person who proved their identity.
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

    private static func add(
        _ rows: inout SessionRows, _ device: NewDevice, _ account: AccountID, isFirst: Bool,
        byPassword: Bool, _ time: Instant
    ) -> SessionEvent {
        // Signing in is a confirmation, too.
        rows[account, device.id] = DeviceRow(
            name: device.name, signedIn: time, lastSeen: time, token: device.token,
            confirmedUntil: time + rows.limits.confirmation, isConfirmedByPassword: byPassword)
        let added = Device(id: device.id, name: device.name, signedIn: time, lastSeen: time)
        return .deviceSignedIn(.init(account: account, device: added, isFirst: isFirst, isFirstOfDay: true, at: time))
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
