import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: PushCommand, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        switch command {
        case .registerPush(let command): try registerPush(&rows, command, account, time)
        case .unregisterPush(let command): unregister(&rows, command, account, time)
        case .forgetPush(let command): forgetPush(&rows, command, time)
        case .recordPushTaken: rows.accounts[account] == nil ? [] : [.pushTaken(.init(account: account, at: time))]
        }
    }

    static func registerPush(
        _ rows: inout NotificationsRows, _ command: RegisterPush, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        let key = PushDeviceKey(account, command.device)
        // The edge looked whether it is signed in, but the sign-out may have been decided before this.
        guard rows.signedOut[key] == nil else {
            throw Rejection(.deviceSignedOut, "This device was signed out; sign in again.", field: "device")
        }
        let known = rows[key].flatMap { $0.isLeaving ? nil : $0 }
        if let known, known.token == command.token, known.platform == command.platform { return [] }
        let isReplacing = rows.pushDevices(of: account).contains {
            rows[PushDeviceKey(account, $0)]?.token == command.token
        }
        guard known != nil || isReplacing || rows.pushDevices(of: account).count < rows.limits.pushDevices else {
            throw Rejection(
                .limitReached,
                "At most \(rows.limits.pushDevices) devices can get pushes; unregister one first.")
        }
        // An app that signed in again without signing out is a new device with the same token.
        let former = rows.pushDevices(of: account).filter {
            $0 != command.device && rows[PushDeviceKey(account, $0)]?.token == command.token
        }
        // Waiting pushes go to the new token.
        rows[key] = PushDeviceRow(token: command.token, platform: command.platform, registered: time)
        let registered = NotificationsEvent.pushRegistered(
            .init(account: account, device: command.device, platform: command.platform, at: time))
        return [registered] + former.flatMap { unregisterPush(&rows, $0, account, .replaced, time) }
    }

    private static func unregister(
        _ rows: inout NotificationsRows, _ command: UnregisterPush, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        if command.isSignedOut == true, let device = command.device {
            let key = PushDeviceKey(account, device)
            if rows.signedOut[key] == nil { rows.signedOut[key] = SignedOutDeviceRow(at: time) }
        }
        return (command.device.map { [$0] } ?? rows.pushDevices(of: account)).flatMap {
            unregisterPush(&rows, $0, account, .asked, time, stillWarns: command.stillWarns ?? false)
        }
    }

    private static func unregisterPush(
        _ rows: inout NotificationsRows, _ device: PushDeviceID, _ account: AccountID,
        _ reason: PushUnregistrationReason, _ time: Instant, stillWarns: Bool = false
    ) -> [NotificationsEvent] {
        let key = PushDeviceKey(account, device)
        guard let row = rows[key], !row.isLeaving else { return [] }
        if stillWarns { rows.leave(key) } else { rows.unregister(key) }
        return [.pushUnregistered(.init(account: account, device: device, reason: reason, at: time))]
    }

    /// Forgets the device only if it still has the token that is gone.
    static func forgetPush(
        _ rows: inout NotificationsRows, _ command: ForgetPush, _ time: Instant
    ) -> [NotificationsEvent] {
        // A leaving device is deleted once nothing waits for it.
        guard rows[PushDeviceKey(command.account, command.device)]?.token == command.token else { return [] }
        return unregisterPush(&rows, command.device, command.account, .gone, time)
    }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: PushCommand, of account: AccountID) {
        switch command {
        case .registerPush(let command):
            pushing.insert(account)
            leaving.insert(PushDeviceKey(account, command.device))
        case .unregisterPush(let command):
            pushing.insert(account)
            if command.isSignedOut == true, let device = command.device {
                leaving.insert(PushDeviceKey(account, device))
            }
        case .forgetPush: pushing.insert(account)
        case .recordPushTaken: break
        }
    }
}
