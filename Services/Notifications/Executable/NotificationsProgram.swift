import Bus
import NotificationsService
import QuartetNotificationsContract
import ServiceKit
import ServiceLifecycle

@main
struct NotificationsProgram: DomainProgram {
    static let name = "notifications"
    static let summary = "Each person's notifications: history, unread counts, schedules and pushes."
    static let target = "NotificationsService"

    static var settings: [any SettingDeclaration] { ConsumerSettings.declared + PushSettings.declared }

    static let commands: [ProgramCommand] = [PushDoctor.command]

    static let forgetting = [
        "delete_old_signed_out_devices", "delete_old_taken_pushes", "delete_old_test_pushes", "empty_reminders",
    ]

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
        let (settings, database, logger) = (bus.context.settings, bus.context.database, bus.context.logger)
        let client = try PushSettings.client(settings)
        let senders = try PushSettings.senders(settings, client: client, logger: logger)
        let check = bus.context.health.check("pushes")
        check.report(.ready)
        let outlet = bus.context.health.check("push services")
        let reportPlatforms: @Sendable (Set<PushPlatform>) -> Void = { platforms in
            outlet.report(PushSettings.problem(settings, for: platforms).map(Health.Condition.impaired) ?? .ready)
        }
        // Until they are known.
        reportPlatforms(Set(PushPlatform.allCases))
        return [
            client,
            CanarySupport(bus),
            TakenPushes(due: due, configuration: database, logger: logger),
            PushDelivery(
                senders: senders, log: bus.log, doorbells: bus.doorbells, due: due, configuration: database,
                logger: logger, reportPlatforms: reportPlatforms,
                report: { problem in check.report(problem.map(Health.Condition.impaired) ?? .ready) }),
        ]
    }
}
