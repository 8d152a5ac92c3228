import Foundation
import Logging
import Postgres
import QuartetVocabulary
import ServiceKit

/// What `session-client doctor` finds out as session-client itself.
enum EdgeChecks {
    /// The settings, and how long the certificate lasts.
    static func settings(_ settings: Settings) -> [Finding] {
        do {
            let edge = try SessionClientSettings(settings, quiet)
            var found = [Finding.well("settings", "complete")]
            if let certificates = edge.http.certificates { found.append(certificate(endsAt: certificates.notAfter)) }
            return found
        } catch {
            return [.wrong("settings", error.advice)]
        }
    }

    private static func certificate(endsAt end: Date) -> Finding {
        let days = Int((end.timeIntervalSinceNow / 86_400).rounded(.down))
        if end.timeIntervalSinceNow <= 0 { return .wrong("certificate", "ended at \(end); replace it") }
        return end.timeIntervalSinceNow < Certificates.notice
            ? .wrong("certificate", "ends in \(days) days, at \(end); replace it, which needs no restart")
            : .well("certificate", "ends in \(days) days, at \(end)")
    }

    /// How far this machine's clock is off.
    static func clock(_ configuration: Postgres.Configuration) async -> [Finding] {
        await Finding.of("clock") {
            guard let offset = try await DatabaseClock.offset(configuration, logger: quiet) else {
                return .unknown("clock", "the database takes more than a second to say what time it is")
            }
            let seconds = String(format: "%.3f s", Double(offset.microseconds.magnitude) / 1e6)
            let difference = "\(seconds) \(offset.microseconds < 0 ? "behind" : "ahead of") the database's"
            return offset.microseconds.magnitude > DatabaseClock.limit.microseconds.magnitude
                ? .wrong("clock", "this machine's is \(difference); synchronise them")
                : .well("clock", "this machine's is \(difference)")
        }
    }

    private static let patience: Duration = .seconds(5)

    /// Whether a session that listens is told. Through a pooler that lends connections for a transaction, it isn't.
    static func doorbells(_ configuration: Postgres.Configuration) async -> [Finding] {
        await Finding.of("doorbells") {
            try await isHeard(configuration)
                ? .well("doorbells", "NOTIFY reaches LISTEN")
                : .wrong(
                    "doorbells",
                    "NOTIFY doesn't reach LISTEN within \(patience); is there a connection pooler in front of PostgreSQL?"
                )
        }
    }

    private static func isHeard(_ configuration: Postgres.Configuration) async throws -> Bool {
        let (channel, sign) = ("quartet_doctor", UUID().uuidString)
        let (events, continuation) = AsyncStream.makeStream(of: Listener.Event.self)
        let listener = Listener(configuration: configuration, channels: [channel]) { continuation.yield($0) }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await listener.run()
                return false
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return false
            }
            group.addTask {
                for await event in events {
                    switch event {
                    case .connected:
                        try await Connection.with(configuration) { database in
                            _ = try database.query("SELECT pg_notify(\(channel), \(sign))")
                        }
                    case .notification(_, let payload): if payload == sign { return true }
                    case .lost(let error): throw error
                    }
                }
                return false
            }
            let isHeard = try await group.next() ?? false
            group.cancelAll()
            return isHeard
        }
    }

    /// What the services themselves log, the doctor says in its own words.
    private static var quiet: Logger {
        var logger = Logger(label: "session-client")
        logger.logLevel = .critical
        return logger
    }
}
