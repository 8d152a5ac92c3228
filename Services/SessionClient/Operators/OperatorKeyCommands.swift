import Postgres
import QuartetAPI
import QuartetVocabulary
package import ServiceKit

/// `session-client keys`: makes, lists and revokes the API keys of operators. Works as `quartet_operator`.
package enum OperatorKeyCommands {
    package static let all = [
        ProgramCommand(
            "keys make", settings: [name, role, reason],
            help: "Make an operator's API key, and print it once.", make),
        ProgramCommand("keys list", help: "List the operators' API keys.", list),
        ProgramCommand("keys revoke", settings: [name, reason], help: "Revoke an operator's API key.", revoke),
    ]

    private static let name = Setting<String>.text(
        "key.name", placeholder: "NAME", default: "",
        help: "Whose key it is, or what it is for: letters, digits and . _ @ -. One key in use has it.")
    private static let role = Setting<OperatorRole>.choice(
        "key.role", default: .read,
        help: "read looks at everything; act may besides retry, discard, set retention and redact.")
    private static let reason = Setting<String>.text("reason", default: "", help: "Why, for the audit.")

    /// What is wrong, in a sentence.
    private struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private static func make(_ settings: Settings) async throws {
        let key = OperatorKey()
        let (name, role, reason) = (settings[name], settings[role], settings[reason])
        try await ask(settings) { database in
            _ = try database.query(
                """
                SELECT session_client.make_operator_key(
                    \(key.id), \(name), \(role.rawValue), \(Bytes(key.hash)), \(reason))
                """)
        }
        print(key.text)
    }

    private static func list(_ settings: Settings) async throws {
        let lines = try await ask(settings) { database in
            try database.query(
                """
                SELECT k.name, k.role, k.id, to_char(k.made_at, 'YYYY-MM-DD HH24:MI:SS'),
                       coalesce('revoked ' || to_char(k.revoked_at, 'YYYY-MM-DD HH24:MI:SS'), 'in use')
                  FROM session_client.operator_key AS k ORDER BY k.revoked_at IS NOT NULL, k.name, k.id
                """
            ).map { row in
                let (name, role, id, made, state) = try row.decode(
                    String.self, String.self, OperatorKeyID.self, String.self, String.self)
                return [name, role, "\(id)", "made \(made)", state].joined(separator: "  ")
            }
        }
        for line in lines { print(line) }
    }

    private static func revoke(_ settings: Settings) async throws {
        let (name, reason) = (settings[name], settings[reason])
        try await ask(settings) { database in
            _ = try database.query("SELECT session_client.revoke_operator_key(\(name), \(reason))")
        }
    }

    private static func ask<Value: Sendable>(
        _ settings: Settings, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard let configuration = OperatorSettings.configuration(settings) else {
            throw Problem(
                description: "say where the database is, for the role quartet_operator: OPERATORS_DATABASE_URL")
        }
        let connection = try await Connection.connect(configuration)
        do {
            let value = try await connection.run(body)
            await connection.close()
            return value
        } catch let error as PostgresError {
            await connection.close()
            throw problem(error) ?? error
        }
    }

    private static func problem(_ error: PostgresError) -> Problem? {
        guard case .server(let refusal) = error.root else { return nil }
        return switch (refusal.sqlState, refusal.constraint) {
        case ("P0002", _): Problem(description: refusal.message)
        case (_, "operator_key_by_name"):
            Problem(description: "a key of this name is in use; revoke it first, or choose another")
        case (_, "operator_key_has_a_name"):
            Problem(description: "--key-name must be 1 to 100 letters, digits or . _ @ -")
        case (_, "operator_act_has_a_reason"):
            Problem(description: "--reason must be 1 to 1,000 characters, for the audit")
        default: nil
        }
    }
}
