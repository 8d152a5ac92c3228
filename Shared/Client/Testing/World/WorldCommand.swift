package import QuartetAPI
import QuartetSessionClientOrchestration
package import QuartetVocabulary

/// A command that an app sent, as the edge appended it.
struct WorldCommand: Sendable {
    let domain: Domain
    let body: any CommandBody
    let id: CommandID
    let account: AccountID
    let key: ID<RequestSubject>
    /// The device's name in the world.
    let device: String
    /// As apps send it.
    let name: String
    let recordedAt: Instant

    /// Whether one is handled before the other: urgent ones don't wait for others.
    func isInOrder(with other: Self) -> Bool {
        domain == other.domain && account == other.account && Self.isUrgent(body) == Self.isUrgent(other.body)
    }

    private static func isUrgent(_ body: some CommandBody) -> Bool { type(of: body).isUrgent }
}

/// What became of an app's command.
package struct WorldDecision: Sendable {
    package let key: ID<RequestSubject>
    /// The device that sent it, by its name in the world: the handle, or `handle/2` and so on.
    package let device: String
    /// The command's name.
    package let command: String
    package let outcome: Outcome
    package let at: Instant

    init(_ command: WorldCommand, _ outcome: Outcome, at time: Instant) {
        (key, device, self.command) = (command.key, command.device, command.name)
        (self.outcome, at) = (outcome, time)
    }

    package var isAccepted: Bool { if case .accepted = outcome { true } else { false } }
}
