package import ServiceKit

/// `session-client doctor`: looks at what an operator would look at, prints a line for each check, and says what to do about
/// what is wrong. It changes nothing.
package enum DoctorCommand {
    package static let all = [
        ProgramCommand(
            "doctor",
            help: "Check settings, database and services, a line each; exit status 1 if something is wrong.", examine)
    ]

    private static func examine(_ settings: Settings) async throws {
        var found = Examination()
        found.note(EdgeChecks.settings(settings))
        let own = CommonSettings.database(settings, role: "session_client", application: "session-client doctor")
        found.note(await Finding.ofDatabase(own))
        // Without a database, all others would say the same.
        if found.findings.last?.state == .well {
            found.note(await EdgeChecks.clock(own))
            found.note(await EdgeChecks.doorbells(own))
            if let operators = OperatorSettings.configuration(settings) {
                found.note(await OperatorChecks.migrations(operators, settings))
                for check in OperatorChecks.all { found.note(await check.findings(operators)) }
                found.note(
                    await OperatorChecks.canary(SessionClientSettings.canaryInterval(settings)).findings(operators))
                found.note(await OperatorChecks.services(operators))
            } else {
                found.note([
                    .unknown(
                        "operators",
                        "migrations, rights, services, retention and durability weren't looked at; set "
                            + "OPERATORS_DATABASE_URL, the database for the role quartet_operator")
                ])
            }
        }
        try found.end()
    }
}
