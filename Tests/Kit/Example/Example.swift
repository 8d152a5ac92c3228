import Logging
import ServiceKit
import ServiceLifecycle

/// A service as small as can be, for the tests of what all services have in common.
@main
struct Example: ServiceProgram {
    static let name = "example"
    static let summary = "A service that the tests start, stop and kill."
    static let target = "example"
    static let greeting = Setting<String>.text("greeting", default: "hello", help: "What it says when it begins.")
    static let settings: [any SettingDeclaration] = [greeting]

    static func services(_ context: ServiceContext) throws -> [any Service] {
        context.logger.info("beginning", metadata: ["ready": "\(context.health.report.isReady)"])
        return [
            Greeter(
                greeting: context.settings[greeting], logger: context.logger, check: context.health.check("greeter"))
        ]
    }
}

/// Says its greeting and waits for the end, which it takes its time for when the greeting is "stubborn".
private struct Greeter: Service {
    let greeting: String
    let logger: Logger
    let check: Health.Check

    func run() async throws {
        logger.info("greeting", metadata: ["text": "\(greeting)"])
        check.report(.ready)
        try await gracefulShutdown()
        if greeting == "stubborn" { try await Task.sleep(for: .seconds(3600)) }
        logger.info("goodbye")
    }
}
