import ServiceKit
import SessionService

@main
struct SessionProgram: DomainProgram {
    static let name = "session"
    static let summary = "Accounts, devices, profiles, check-ins and alerts; group sessions and games."
    static let target = "SessionService"

    static let forgetting = ["delete_old_attempts", "delete_old_groups"]

    static var limits: [StoredLimit] {
        [
            .duration(
                "check_in_cooldown", in: .zero...(.seconds(86_400)),
                help: "How long after a check-in the next one may come. At first: 5m."),
            .duration(
                "least_check_in_interval", in: .seconds(1)...(.seconds(86_400)),
                help: "The shortest interval that somebody may choose. At first: 1h."),
            .count(
                "alarm_repetitions", in: 0...100,
                help: "How often responders hear again of a missed check-in or an alert. At first: 3."),
            .duration(
                "alarm_repetition_interval", in: .seconds(1)...(.seconds(86_400)),
                help: "How long after each time they hear of it again. At first: 30m."),
            .count(
                "alert_burst", in: 1...10_000,
                help: "How many alerts of a person within a window responders hear of at once. At first: 3."),
            .duration(
                "alert_window", in: .seconds(1)...(.seconds(86_400)), help: "How long such a window is. At first: 10m."
            ),
            .duration(
                "alert_pause", in: .zero...(.seconds(3600)),
                help:
                    "How long responders don't hear of a further alert; of one that ends before, never. At first: 60s."),
            .duration(
                "undo_window", in: .seconds(1)...(.seconds(30 * 86_400)),
                help: "How long a device that was signed out by a change of the password may undo it. At first: 72h."),
            .duration(
                "phone_rest", in: .zero...(.seconds(30 * 86_400)),
                help:
                    "How long a phone that replaced another one can't sign in, unless the password confirmed it. At first: 24h."
            ),
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
}
