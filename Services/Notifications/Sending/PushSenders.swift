import Foundation
package import Logging
import NotificationsContract
import NotificationsRules
package import Webhook

/// Gives pushes to another system, which hands them on to the push services: a ``Push`` as JSON each, under its id.
package struct WebhookPushSender: PushSender {
    private let webhook: Webhook

    /// - Parameter webhook: Where that system takes them.
    package init(webhook: Webhook) {
        self.webhook = webhook
    }

    /// Sends one push and waits until it is taken, for ten seconds at most.
    /// - Throws: ``PushFailure``.
    package func send(_ push: Push) async throws(PushFailure) -> String {
        let body = try document(push)
        switch await webhook.post(body, id: "\(push.id)") {
        case .taken(let answer): return answer
        case .gone: throw .gone
        case .refused(let reason): throw .refused(reason)
        case .unavailable(let reason): throw .unavailable(reason)
        }
    }

    private func document(_ push: Push) throws(PushFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(push)) } catch { throw .refused("\(error)") }
    }
}

/// For development: says in the log that there is a push, and sends it nowhere.
package struct LoggedPushSender: PushSender {
    private let logger: Logger

    /// - Parameter logger: Where it is said.
    package init(logger: Logger) {
        self.logger = logger
    }

    /// Says so, without the token.
    package func send(_ push: Push) async throws(PushFailure) -> String {
        logger.info(
            "a push, only logged because PUSH_WEBHOOK_URL isn't set",
            metadata: ["push": "\(push.id)", "kind": "\(push.notification.kind.rawValue)", "device": "\(push.device)"])
        return "it was only logged"
    }
}
