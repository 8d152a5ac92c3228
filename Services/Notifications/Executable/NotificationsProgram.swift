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
    static let summary = "Each person's notifications: history, unread counts, schedules and pushes."
    static let target = "NotificationsService"

    private static let webhookURL = Setting<WebhookAddress?>(
        "push.webhook.url", placeholder: "URL", default: nil,
        help:
            "The URL of a system that sends pushes to devices. It gets each push in a POST. Without it, pushes are only logged."
    ) { text throws(SettingProblem) in
        guard let address = WebhookAddress(text) else {
            throw SettingProblem(
                expected: "the https:// URL of a system that sends pushes (on this machine, http:// will do)")
        }
        return address
    }
    private static let webhookKey = Setting<SymmetricKey?>(
        "push.webhook.key", placeholder: "TEXT", default: nil, isSecret: true,
        help: "The key that signs requests to that system, which verifies them with it."
    ) { text throws(SettingProblem) in
        SymmetricKey(data: Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
    }

    static var settings: [any SettingDeclaration] { ConsumerSettings.declared + [webhookURL, webhookKey] }

    static let forgetting = ["delete_old_signed_out_devices", "delete_old_taken_pushes"]

    static var limits: [StoredLimit] {
        [
            .count(
                "burst", in: 0...1000,
                help:
                    "How many notifications about one subject are delivered at once in ten minutes; further ones follow once a minute. 0 is no limit. Initially 6."
            )
        ]
    }

    static func store(_ settings: Settings) -> NotificationsStore { NotificationsStore() }

    static func companions(_ bus: DomainBus) throws -> [any Service] {
        guard let due = bus.due else { return [] }
        if let problem = bus.context.settings[webhookURL]?.problem(key: bus.context.settings[webhookKey]) {
            throw UnsignedWebhook(description: "\(problem): set PUSH_WEBHOOK_KEY_FILE to a file that contains the key")
        }
        let (settings, database, logger) = (bus.context.settings, bus.context.database, bus.context.logger)
        let sender: any PushSender =
            if let address = settings[webhookURL] {
                WebhookPushSender(webhook: Webhook(address, key: settings[webhookKey]))
            } else {
                LoggedPushSender(logger: logger)
            }
        let check = bus.context.health.check("pushes")
        check.report(.ready)
        return [
            CanarySupport(bus),
            TakenPushes(due: due, configuration: database, logger: logger),
            PushDelivery(
                sender: sender, log: bus.log, doorbells: bus.doorbells, due: due, configuration: database,
                logger: logger
            ) { problem in check.report(problem.map(Health.Condition.impaired) ?? .ready) },
        ]
    }
}

/// Without a key, the receiver couldn't tell who sends the pushes.
private struct UnsignedWebhook: Error, CustomStringConvertible {
    let description: String
}
