import QuartetContractSupport
import QuartetNotificationsContract
package import QuartetSessionContract
import QuartetVocabulary

/// What follows a sign-out of one device, or of all of an account's: nothing is pushed to them any more.
///
/// The sign-out itself isn't a step. The action asks session for it before this is recorded, so that a person who lost a
/// device waits for nothing that is stuck; from then on tokens are refused, and every replica that hears of it ends the
/// streams. If the process ends in between, the policy does the same as this.
package struct SignOutSaga: Saga {
    package static let type = "SignOut"
    package static let lane = "sign-out"

    /// The one that is signed out; nil for all.
    let device: DeviceID?

    package init(device: DeviceID?) {
        self.device = device
    }

    /// Nothing that the caller doesn't know.
    package struct Result: Encodable, Sendable {}

    package func run(_ steps: some SagaSteps) async throws -> Result {
        try await steps.demand(
            "push", UnregisterPush(device: device.map { PushDeviceID($0) }), of: .notifications, for: steps.account,
            unless: .accountClosed)
        return Result()
    }
}
