import Postgres
import ServiceKit

/// How session-client reaches the database as `quartet_operator`.
enum OperatorSettings {
    static let url = Setting<String?>.text(
        "operators.database.url", placeholder: "URL",
        help: """
            The database, for operators: opens /v1/operator and the console's pages for operators to those who have an API \
            key (session-client keys make). Its role is quartet_operator. Off by default.
            """)
    static let password = Setting<String?>.text(
        "operators.database.password", isSecret: true, help: "The password of quartet_operator, if it needs one.")

    static let declared: [any SettingDeclaration] = [url, password]

    private static let role = "quartet_operator"

    /// Nil if it isn't configured.
    static func configuration(_ settings: Settings) -> Postgres.Configuration? {
        guard let url = settings[url] else { return nil }
        var configuration = Postgres.Configuration(url)
        configuration.parameters["user"] = role
        configuration.parameters["application_name"] = "session-client"
        if let password = settings[password] { configuration.parameters["password"] = password }
        return configuration
    }
}
