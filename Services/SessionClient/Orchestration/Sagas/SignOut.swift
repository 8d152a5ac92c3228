import ContractSupport
import NotificationsContract
import SessionContract
import Vocabulary

/// What follows a sign-out of one device, or of all of an account's: nothing is pushed to them any more.
///
/// The sign-out itself isn't a step. The edge asks session for it before this is written down, so that whoever lost a device
/// waits for nothing that is stuck; from then on tokens are refused, and every edge that hears of it ends the streams. When
/// the edge ends in between, the policy does the same as this.
struct SignOutOperation: Saga {
    static let type = "SignOut"
    static let lane = "sign-out"

    /// The one that is signed out; nil for all.
    let device: DeviceID?

    /// There is nothing to tell that whoever asked doesn't know.
    struct Result: Encodable, Sendable {}

    func run(_ run: SagaRun) async throws -> Result {
        try await run.demand(
            "push", UnregisterPush(device: device.map { PushDeviceID($0) }), of: .notifications, for: run.account,
            unless: .accountClosed)
        return Result()
    }
}
