import ServiceKit
import ServiceLifecycle
import SessionService

@main
struct SessionProgram: DomainProgram {
    static let name = "session"
    static let summary =
        "Accounts, devices, profiles, check-ins and alerts; group sessions with games, messages and attachments."
    static let target = "SessionService"

    static let forgetting = [
        "delete_old_attempts", "delete_old_attachments", "delete_old_groups", "delete_old_messages",
        "delete_old_checkpoints", "delete_old_withdrawals",
    ]

    static var limits: [StoredLimit] {
        [
            .duration(
                "check_in_cooldown", in: .zero...(.seconds(86_400)),
                help: "The shortest time between two check-ins. Initially 5m."),
            .duration(
                "least_check_in_interval", in: .seconds(1)...(.seconds(86_400)),
                help: "The shortest check-in interval that people may choose. Initially 1h."),
            .count(
                "alarm_repetitions", in: 0...100,
                help: "How many times responders are notified again of a missed check-in or an alert. Initially 3."),
            .duration(
                "alarm_repetition_interval", in: .seconds(1)...(.seconds(86_400)),
                help: "The time between these repetitions. Initially 30m."),
            .count(
                "alert_burst", in: 1...10_000,
                help: "How many of a person's alerts within a window notify responders at once. Initially 3."),
            .duration(
                "alert_window", in: .seconds(1)...(.seconds(86_400)), help: "The length of this window. Initially 10m."
            ),
            .duration(
                "alert_pause", in: .zero...(.seconds(3600)),
                help:
                    "How long a further alert must last before it notifies responders. Initially 60s."),
            .duration(
                "undo_window", in: .seconds(1)...(.seconds(30 * 86_400)),
                help:
                    "How long a device that was signed out by a change of the password may undo the change. Initially 72h."
            ),
            .duration(
                "phone_rest", in: .zero...(.seconds(30 * 86_400)),
                help:
                    "How long a phone that replaced another one can't sign in, unless the password confirmed the change. Initially 24h."
            ),
            .duration(
                "least_trip", in: .seconds(1)...(.seconds(86_400)),
                help: "How far ahead the end of a trip must be when it is set. Initially 5m."),
            .duration(
                "drop_notice", in: .zero...(.seconds(60)),
                help: "How long a participant can be without a connection before others hear of it. At first: 5s."),
            .duration(
                "drop_grace", in: .seconds(5)...(.seconds(300)),
                help:
                    "How long a participant can be without a connection and stay in a group session. At first: 30s."),
            .duration(
                "edge_lease", in: .seconds(1)...(.seconds(300)),
                help: "How long a session-client process counts as alive after it said so. At first: 15s."),
            .duration(
                "empty_group_rest", in: .seconds(1)...(.seconds(86_400)),
                help: "How long a group session goes on with nobody in it. At first: 10m."),
        ]
    }

    static func store(_ settings: Settings) -> SessionStore { SessionStore() }

    static func companions(_ bus: DomainBus) -> [any Service] { [CanarySupport(bus)] }
}
