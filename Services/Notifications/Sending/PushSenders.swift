import Foundation
package import Logging
import NotificationsContract
import NotificationsRules
package import Webhook

/// Posts pushes as JSON to another system, which hands them to the push services.
package struct WebhookPushSender: PushSender {
    private let webhook: Webhook

    package init(webhook: Webhook) {
        self.webhook = webhook
    }

    /// Sends one push and waits for the answer, ten seconds at most.
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

/// For development: logs each push instead of sending it.
package struct LoggedPushSender: PushSender {
    private let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    package var reachesDevices: Bool { false }

    /// Logs everything but the token.
    package func send(_ push: Push) async throws(PushFailure) -> String {
        logger.info(
            "a push, only logged because PUSH_WEBHOOK_URL isn't set",
            metadata: ["push": "\(push.id)", "kind": "\(push.notification.kind.rawValue)", "device": "\(push.device)"])
        return "it was only logged"
    }
}
