import Foundation
package import ServiceKit

/// `session-client doctor`: looks at what an operator would look at, prints a line for each check, and says what to do about
/// what is wrong. It changes nothing.
package enum DoctorCommand {
    package static let all = [
        ProgramCommand(
            "doctor",
            help: "Check settings, database and services, a line each; exit status 1 if something is wrong.", examine)
    ]

    /// Which checks found something wrong.
    private struct Unwell: Error, CustomStringConvertible {
        let description: String
    }

    private static func examine(_ settings: Settings) async throws {
        var findings: [Finding] = []
        func note(_ found: [Finding]) {
            for finding in found { print(finding) }
            findings += found
        }
        note(EdgeChecks.settings(settings))
        let own = CommonSettings.database(settings, role: "session_client", application: "session-client doctor")
        note(await EdgeChecks.database(own))
        // Without a database, all others would say the same.
        if findings.last?.state == .well {
            note(await EdgeChecks.clock(own))
            note(await EdgeChecks.doorbells(own))
            if let operators = OperatorSettings.configuration(settings) {
                note(await OperatorChecks.migrations(operators, settings))
                for check in OperatorChecks.all { note(await check.findings(operators)) }
                note(await OperatorChecks.canary(SessionClientSettings.canaryInterval(settings)).findings(operators))
                note(await OperatorChecks.services(operators))
            } else {
                note([
                    .unknown(
                        "operators",
                        "migrations, rights, services, retention and durability weren't looked at; set "
                            + "OPERATORS_DATABASE_URL, the database for the role quartet_operator")
                ])
            }
        }
        let wrong = findings.filter { $0.state == .wrong }.map(\.subject)
        guard wrong.isEmpty else {
            throw Unwell(
                description:
                    "\(wrong.count) of \(findings.count) checks found something wrong: \(wrong.joined(separator: ", "))"
            )
        }
    }
}

/// What a check of `session-client doctor` found.
struct Finding: Sendable, CustomStringConvertible {
    /// As it is printed.
    enum State: String, Sendable {
        case well = "ok"
        case wrong = "WRONG"
        /// It couldn't be looked at.
        case unknown = "?"
    }

    let state: State
    /// A word for what was looked at.
    let subject: String
    /// What was found, and what to do about it.
    let text: String

    static func well(_ subject: String, _ text: String) -> Self { Self(state: .well, subject: subject, text: text) }
    static func wrong(_ subject: String, _ text: String) -> Self { Self(state: .wrong, subject: subject, text: text) }
    static func unknown(_ subject: String, _ text: String) -> Self {
        Self(state: .unknown, subject: subject, text: text)
    }

    /// What was found. A check that can't look finds that wrong.
    static func of(_ subject: String, _ look: () async throws -> Finding) async -> [Finding] {
        do { return [try await look()] } catch { return [.wrong(subject, error.advice)] }
    }

    /// For example `ok     clock           0.2 s behind the database's`.
    var description: String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            + subject.padding(toLength: 16, withPad: " ", startingAt: 0) + line
    }
}
