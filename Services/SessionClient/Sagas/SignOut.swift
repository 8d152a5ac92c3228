import Grammar
import NotificationsContract
import SessionContract
import Vocabulary

/// Signs out one device of an account, or all of them: from `signOut` on every token of theirs is refused, every edge that
/// hears of it ends their streams, and nothing more is pushed to them.
///
/// In a lane of its own: whoever lost a device doesn't wait for an operation that can't go on.
struct SignOutOperation: Saga {
    static let type = "SignOut"
    static let lane = "sign-out"

    /// The one to sign out; nil for all.
    let device: DeviceID?
    /// The device that asks.
    let by: DeviceID

    /// There is nothing to tell that whoever asked doesn't know.
    struct Result: Encodable, Sendable {}

    func run(_ run: SagaRun) async throws -> Result {
        _ = try await run.decide("signOut", SignOut(device: device, by: by), of: .session, for: run.account)
        try await run.demand(
            "push", UnregisterPush(device: device.map { PushDeviceID($0) }), of: .notifications, for: run.account,
            unless: .accountClosed)
        return Result()
    }
}
