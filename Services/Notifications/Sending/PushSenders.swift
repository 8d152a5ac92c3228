import Foundation
package import Logging
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
package import Webhook

/// Posts pushes as JSON to another system, which hands them to the push services.
package struct WebhookPushSender: PushSender {
    private let webhook: Webhook

    package init(webhook: Webhook) {
        self.webhook = webhook
    }

    /// Sends one push and waits for the answer, ten seconds at most.
    package func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        let body = try Self.document(push)
        switch await webhook.post(body, id: "\(push.id)") {
        case .taken(let answer): return .taken(answer)
        case .gone: throw .gone()
        case .refused(let reason): throw .refused(reason)
        case .unavailable(let reason): throw .unavailable(reason)
        }
    }

    /// Whether the system is there. It is sent no push.
    package func check() async -> SenderCheck {
        switch await webhook.look() {
        case .there(let answer):
            .unknown(
                "\(answer) when asked without a push. Whether it accepts pushes and signatures: \(SenderCheck.onlyPush)"
            )
        case .absent(let reason): .refused("it can't be reached: \(reason)")
        }
    }

    private struct Document: Encodable {
        let id: PushID
        let account: AccountID
        let device: PushDeviceID
        let token: String
        let platform: PushPlatform
        /// A test has none, so that nobody who doesn't know tests can take it for real.
        let notification: PushedNotification?
        let unread: Int?
        let isTest: Bool?
    }

    static func document(_ push: Push) throws(PushFailure) -> [UInt8] {
        let document = Document(
            id: push.id, account: push.account, device: push.device, token: push.token, platform: push.platform,
            notification: push.isTest == true ? nil : push.notification, unread: push.unread, isTest: push.isTest)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(document)) } catch { throw .unfit("\(error)") }
    }
}

/// For development, and for platforms that nothing is set for: logs each push instead of sending it.
package struct LoggedPushSender: PushSender {
    private let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    /// Logs everything but the token.
    package func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        logger.info(
            "a push, only logged because nothing is set by which it could be sent",
            metadata: [
                "push": "\(push.id)", "kind": "\(push.notification.kind.rawValue)",
                "platform": "\(push.platform.rawValue)",
                "device": "\(push.device)",
            ])
        return .logged("it was only logged")
    }
}
