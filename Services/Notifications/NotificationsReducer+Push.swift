import Grammar
import NotificationsContract
import Vocabulary

extension NotificationsReducer {
    static func registerPush(
        _ rows: inout NotificationsRows, _ command: RegisterPush, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        let place = PushPlace(account, command.device)
        let known = rows[place]
        if let known, known.token == command.token, known.platform == command.platform { return [] }
        guard known != nil || rows.pushDevices(of: account).count < rows.limits.pushDevices else {
            throw Rejection(
                .limitReached,
                "\(rows.limits.pushDevices) devices are pushed to, as many as there may be; unregister one first.")
        }
        // What waits for it goes to the new token.
        rows[place] = PushDeviceRow(token: command.token, platform: command.platform, registered: time)
        return [
            .pushRegistered(.init(account: account, device: command.device, platform: command.platform, at: time))
        ]
    }

    static func unregisterPush(
        _ rows: inout NotificationsRows, _ device: PushDeviceID, _ account: AccountID,
        _ reason: PushUnregistrationReason, _ time: Instant
    ) -> [NotificationsEvent] {
        let place = PushPlace(account, device)
        guard rows[place] != nil else { return [] }
        rows.unregister(place)
        return [.pushUnregistered(.init(account: account, device: device, reason: reason, at: time))]
    }

    /// The device may be back under another token: only the one that is gone is forgotten.
    static func forgetPush(
        _ rows: inout NotificationsRows, _ command: ForgetPush, _ time: Instant
    ) -> [NotificationsEvent] {
        guard rows[PushPlace(command.account, command.device)]?.token == command.token else { return [] }
        return unregisterPush(&rows, command.device, command.account, .gone, time)
    }
}
