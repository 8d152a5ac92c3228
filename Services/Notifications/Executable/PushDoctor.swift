import Logging
import NotificationsService
import QuartetNotificationsContract
import ServiceKit

/// `notifications doctor`: asks each configured sender about its credentials without telling anybody anything, prints a line for each
/// check, and says what to do about what is wrong. It changes nothing.
enum PushDoctor {
    static let command = ProgramCommand(
        "doctor",
        help:
            "Check what pushes are sent by, without sending one, a line each; exit status 1 if something is wrong.",
        examine)

    private static func examine(_ settings: Settings) async throws {
        var found = Examination()
        let own = CommonSettings.database(settings, role: "notifications", application: "notifications doctor")
        let database = await Finding.ofDatabase(own)
        found.note(database)
        do {
            let client = try PushSettings.client(settings, isImpatient: true)
            let configured = try PushSettings.configured(settings, client: client, logger: quiet)
            found.note([.well("settings", "they fit together, and the files can be read")])
            found.note([finding("apns", unset: "PUSH_APNS_KEY_FILE", await configured.apns?.check())])
            found.note([finding("fcm", unset: "PUSH_FCM_ACCOUNT_FILE", await configured.fcm?.check())])
            found.note([finding("web", unset: "PUSH_WEB_KEY_FILE", await configured.web?.check())])
            found.note([finding("webhook", unset: "PUSH_WEBHOOK_URL", await configured.webhook?.check())])
            // Whoever has no device of a platform needs no sender for it. Only the database knows which there are.
            let answers = database.last?.state == .well
            found.note(
                await Finding.of("outlets") {
                    outlets(settings, answers ? try await PushDelivery.platforms(own) : nil)
                })
        } catch {
            found.note([.wrong("settings", error.advice)])
        }
        try found.end()
    }

    /// Whether pushes to all registered devices go somewhere.
    /// - Parameter platforms: Of the devices that there are; nil where the database doesn't say.
    private static func outlets(_ settings: Settings, _ platforms: Set<PushPlatform>?) -> Finding {
        if let problem = PushSettings.problem(settings, for: platforms ?? []) { return .wrong("outlets", problem) }
        guard platforms != nil else {
            return .unknown("outlets", "the database can't be asked which kinds of devices there are")
        }
        return .well(
            "outlets", "pushes to all phones and browsers that are registered go to a push service or to the webhook")
    }

    private static func finding(_ subject: String, unset variable: String, _ check: SenderCheck?) -> Finding {
        switch check {
        case nil: .unknown(subject, "not set (\(variable)), so there is nothing to check")
        case .accepted(let text): .well(subject, text)
        case .refused(let text): .wrong(subject, text)
        case .unknown(let text): .unknown(subject, text)
        }
    }

    /// What the senders themselves log, the doctor says in its own words.
    private static var quiet: Logger {
        var logger = Logger(label: "notifications")
        logger.logLevel = .critical
        return logger
    }
}
