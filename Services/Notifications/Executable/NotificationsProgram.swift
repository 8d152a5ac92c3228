import Bus
import Crypto
import Foundation
import NotificationsService
import ServiceKit
import ServiceLifecycle
import Webhook

@main
struct NotificationsProgram: DomainProgram {
    static let name = "notifications"
    static let summary = "What each person was told, and how much of it is unread."
    static let target = "NotificationsService"

    private static let webhookURL = Setting<WebhookAddress?>(
        "push.webhook.url", placeholder: "URL", default: nil,
        help: "A system that hands pushes on to devices: gets each by a POST. Without it they are only logged."
    ) { text throws(SettingProblem) in
        guard let address = WebhookAddress(text) else {
            throw SettingProblem(
                expected: "the https:// URL of a system that hands pushes on (http:// on this machine)")
        }
        return address
    }
    private static let webhookKey = Setting<SymmetricKey?>(
        "push.webhook.key", placeholder: "TEXT", default: nil, isSecret: true,
        help: "Shared with that system: requests to it are signed by it."
    ) { text throws(SettingProblem) in
        SymmetricKey(data: Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
    }

    static var settings: [any SettingDeclaration] { ConsumerSettings.declared + [webhookURL, webhookKey] }

    static var limits: [StoredLimit] {
        [
            .count(
                "burst", in: 0...1000,
                help:
                    "How many notifications about the same are delivered at once in ten minutes; then one a minute. 0: no limit. At first: 6."
            )
        ]
    }

    static func store(_ settings: Settings) -> NotificationsStore { NotificationsStore() }

    static func companions(_ bus: DomainBus) throws -> [any Service] {
        guard let due = bus.due else { return [] }
        if let problem = bus.context.settings[webhookURL]?.problem(key: bus.context.settings[webhookKey]) {
            throw UnsignedWebhook(description: "\(problem): set PUSH_WEBHOOK_KEY_FILE to a file with a key")
        }
        let (settings, database, logger) = (bus.context.settings, bus.context.database, bus.context.logger)
        let sender: any PushSender =
            if let address = settings[webhookURL] {
                WebhookPushSender(webhook: Webhook(address, key: settings[webhookKey]))
            } else {
                LoggedPushSender(logger: logger)
            }
        return [
            PushDelivery(
                sender: sender, log: bus.log, doorbells: bus.doorbells, due: due, configuration: database,
                logger: logger)
        ]
    }
}

/// Pushes would be handed to a system that couldn't tell who sends them.
private struct UnsignedWebhook: Error, CustomStringConvertible {
    let description: String
}
