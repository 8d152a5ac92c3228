import Foundation
package import Postgres

/// What a program's command `doctor` found so far. Each finding is a line, printed as soon as it is known.
package struct Examination {
    /// Which checks found something wrong.
    private struct Unwell: Error, CustomStringConvertible {
        let description: String
    }

    package private(set) var findings: [Finding] = []

    package init() {}

    package mutating func note(_ found: [Finding]) {
        for finding in found { print(finding) }
        findings += found
    }

    /// - Throws: which checks found something wrong, if any did.
    package func end() throws {
        let wrong = findings.filter { $0.state == .wrong }.map(\.subject)
        guard wrong.isEmpty else {
            throw Unwell(
                description:
                    "\(wrong.count) of \(findings.count) checks found something wrong: \(wrong.joined(separator: ", "))"
            )
        }
    }
}

/// What a check of a program's command `doctor` found.
package struct Finding: Sendable, CustomStringConvertible {
    /// As it is printed.
    package enum State: String, Sendable {
        case well = "ok"
        case wrong = "WRONG"
        /// It couldn't be looked at.
        case unknown = "?"
    }

    package let state: State
    /// A word for what was looked at.
    package let subject: String
    /// What was found, and what to do about it.
    package let text: String

    package static func well(_ subject: String, _ text: String) -> Self {
        Self(state: .well, subject: subject, text: text)
    }
    package static func wrong(_ subject: String, _ text: String) -> Self {
        Self(state: .wrong, subject: subject, text: text)
    }
    package static func unknown(_ subject: String, _ text: String) -> Self {
        Self(state: .unknown, subject: subject, text: text)
    }

    private static let longest = 1000

    /// What was found. A check that can't look finds that wrong.
    package static func of(_ subject: String, _ look: () async throws -> Finding) async -> [Finding] {
        do { return [try await look()] } catch { return [.wrong(subject, error.advice)] }
    }

    /// Whether the database answers a program's role.
    package static func ofDatabase(_ configuration: Postgres.Configuration) async -> [Finding] {
        await of("database") {
            try await Connection.with(configuration) { database -> Finding in
                let row = try database.query(
                    "SELECT current_setting('server_version'), current_database()::text, current_user::text"
                ).only
                guard let (version, name, role) = try row?.decode(String.self, String.self, String.self) else {
                    return .wrong("database", "doesn't answer")
                }
                guard database.serverVersion >= DatabaseRequirement.serverVersion else {
                    return .wrong("database", "\(DatabaseRefusal.tooOld(version: version))")
                }
                return .well("database", "\(name) on PostgreSQL \(version) answers \(role)")
            }
        }
    }

    /// For example `ok     clock           0.2 s behind the database's`.
    package var description: String {
        // Others' answers are in it, and a terminal would do as they say.
        let scalars = text.unicodeScalars
        let line = String(
            String.UnicodeScalarView(
                scalars.prefix(Self.longest).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
        return state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            + subject.padding(toLength: 16, withPad: " ", startingAt: 0) + line
            + (scalars.count > Self.longest ? "…" : "")
    }
}
