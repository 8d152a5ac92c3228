import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

package struct DeviceKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let device: DeviceID

    package init(_ account: AccountID, _ device: DeviceID) {
        self.account = account
        self.device = device
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.device) < (right.account, right.device)
    }
}

/// A device that is or was signed in.
package struct DeviceRow: Equatable, Sendable {
    /// Shown in the list of devices.
    package var name: String
    package var signedIn: Instant
    /// When it last exchanged its token.
    package var lastSeen: Instant
    /// The hash of its token.
    package var token: Secret
    /// The hashes of its former tokens, the latest last.
    package var earlier: [Secret] = []
    package var signedOut: Instant?
    package var reason: SignOutReason?
    /// Until when it may do what needs a confirmation.
    package var confirmedUntil: Instant?
    /// Whether it was confirmed by the password rather than a code.
    package var isConfirmedByPassword = false
    /// Wrong passwords on this device. They are counted apart from strangers', which could lock the owner out.
    package var guesses = GuessesRow()

    /// Whether nothing but its sign-in confirms what it does.
    func isConfirmedBySigningIn(_ limits: SessionLimits) -> Bool { confirmedUntil == signedIn + limits.confirmation }

    /// Whether a recent security change signed it out, so that it may undo that change.
    func mayUndo(at time: Instant, _ limits: SessionLimits) -> Bool {
        guard let reason, let signedOut else { return false }
        return reason.leavesUndo && signedOut + limits.undoWindow > time
    }
}

extension DeviceRow {
    package static let blank = Self(name: "", signedIn: .blank, lastSeen: .blank, token: .blank)
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: DeviceCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, row) = try asker(rows, context)
        return switch command {
        case .refreshDevice(let command): try refresh(&rows, command, account, context.time)
        case .signOut(let command): try signOut(&rows, command, account, row, context.time)
        }
    }

    static func refresh(
        _ rows: inout SessionRows, _ command: RefreshDevice, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard var device = rows[account, command.device] else {
            throw Rejection(.deviceSignedOut, "This device isn't signed in; sign in again.", field: "device")
        }
        if let reason = device.reason {
            throw Rejection(.deviceSignedOut, "Sign in again: \(reason.explanation).", field: "device")
        }
        guard device.token == command.token else {
            guard device.earlier.contains(command.token) else {
                throw Rejection(.invalidToken, "This isn't the device's token; sign in again.", field: "token")
            }
            return [signOut(&rows, command.device, .tokenReused, account, time)]
        }
        device.earlier = (device.earlier + [device.token]).suffix(rows.limits.earlierTokens)
        device.token = command.next
        let isFirstOfDay = command.device.day(of: device.lastSeen) != command.device.day(of: time)
        device.lastSeen = time
        rows[account, command.device] = device
        return [
            .deviceRefreshed(
                .init(account: account, device: command.device, isFirstOfDay: isFirstOfDay ? true : nil, at: time))
        ]
    }

    static func signOut(
        _ rows: inout SessionRows, _ command: SignOut, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        if row.isConfirmationRequired, command.device == nil || command.device != command.by {
            try requireConfirmed(rows, account, by: command.by, time)
        }
        guard let id = command.device else {
            // The asking device comes first: its event is the command's result.
            let devices = rows.signedIn(account).map(\.id)
            return (devices.filter { $0 == command.by } + devices.filter { $0 != command.by }).map {
                signOut(&rows, $0, $0 == command.by ? .signedOut : .revoked, account, time)
            }
        }
        guard let device = rows[account, id] else {
            throw Rejection(.notFound, "This isn't one of your devices.", field: "device")
        }
        guard device.signedOut == nil else { return [] }
        let isOwn = command.by == nil || command.by == id
        return [signOut(&rows, id, isOwn ? .signedOut : .revoked, account, time)]
    }

    /// Signs a device out and remembers why, so that it can be told when it returns. Only some are remembered.
    static func signOut(
        _ rows: inout SessionRows, _ id: DeviceID, _ reason: SignOutReason, _ account: AccountID, _ time: Instant
    ) -> SessionEvent {
        rows[account, id]?.signedOut = time
        rows[account, id]?.reason = reason
        let signedOut = rows.devices(of: account).filter { $0.row.signedOut != nil }
        let others = signedOut.filter { !$0.row.mayUndo(at: time, rows.limits) }.sorted {
            ($0.row.signedOut ?? time, $0.id) < ($1.row.signedOut ?? time, $1.id)
        }
        for (old, _) in others.dropLast(rows.limits.signedOutDevices) { rows[account, old] = nil }
        // Signing in and out must not push the owner's devices out: among those that may undo something, the ones that
        // signed in last are forgotten.
        let undoing = signedOut.filter { $0.row.mayUndo(at: time, rows.limits) }.sorted {
            ($0.row.signedIn, $0.id) < ($1.row.signedIn, $1.id)
        }
        for (young, _) in undoing.dropFirst(rows.limits.signedOutDevices) { rows[account, young] = nil }
        return .deviceSignedOut(.init(account: account, device: id, reason: reason, at: time))
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: DeviceCommand, of account: AccountID) {
        switch command {
        case .refreshDevice, .signOut: signing.insert(account)
        }
    }
}

extension DeviceID {
    /// The number of the device's own day. Each device's begins at another time, so that not all are reported at midnight.
    fileprivate func day(of time: Instant) -> Int64 {
        let length = Interval.days(1).microseconds
        return (time.microseconds + Int64(low & 0x3FFF_FFFF_FFFF_FFFF) % length) / length
    }
}
