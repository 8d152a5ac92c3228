import EdgeClient
import TestKit

extension Quartet {
    /// The four services, where operators are configured.
    static func withOperators<Result: Sendable>(_ body: (Quartet) async throws -> Result) async throws -> Result {
        try await with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: try quartet.forOperators)
            return try await body(quartet)
        }
    }

    /// How the edge, and `session-client keys`, reach the database for operators.
    var forOperators: [String: String] {
        get throws {
            // Tests send many wrong keys from one address; the one about guessing sets its own limit.
            ["OPERATORS_DATABASE_URL": try databaseURL(as: "quartet_operator"), "GUESSES_PER_MINUTE": "100000"]
        }
    }

    /// What `session-client keys` printed.
    @discardableResult
    func operatorKeys(_ arguments: String...) async throws -> [String] {
        let process = try await ChildProcess.start(
            Service.sessionClient.rawValue, ["keys"] + arguments, environment: try forOperators)
        try await process.waitForExit(.exited(0))
        let lines = process.lines(on: .output)
        await process.end()
        return lines
    }

    /// Parks a command of somebody's at contacts, which is ended so that it doesn't take it.
    func park(of account: String, error: String) async throws {
        try await kill(.contacts)
        _ = try await psql(
            """
            INSERT INTO contacts.parked (source, partition, position, kind, type, version, key, body, message_id, command_id,
                                         recorded_at, cause, attempts, failing_since, retry_at, error)
            SELECT 'session_client.contacts_commands', 0, 1000000, 'command', 'SetContactApproval', 1,
                   'account/\(account)', '{"isRequired":true}', gen_random_uuid(), gen_random_uuid(), now(), 'error', 1,
                   now(), now() + interval '1 day', '\(error)'
            """)
    }

    /// A new API key.
    func makeKey(_ name: String, _ role: String) async throws -> String {
        try await operatorKeys("make", "--key-name", name, "--key-role", role, "--reason", "for a test").first ?? ""
    }
}
