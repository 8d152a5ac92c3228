import Foundation
import Logging
import Postgres
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
                help:
                    "The shortest check-in interval that people may choose, and the shortest time between two daily times, which are an hour apart in any case. Initially 1h."
            ),
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

    private static let zonesFolder = Setting<String?>.text(
        "zones.dir", placeholder: "FOLDER",
        help:
            "The compiled time zones that people choose from, stored for all replicas. Default: \(ZoneFiles.usualFolder), if it has newer ones than the database."
    )

    static var supplies: [any SettingDeclaration] { [zonesFolder] }

    static func supply(_ database: Database, _ settings: Settings, _ logger: Logger) throws {
        try storeZones(database, settings, logger)
        let reviews = try StoredZones.setReviews(database)
        guard reviews > 0 else { return }
        logger.info("has daily times looked at again", metadata: ["accounts": "\(reviews)"])
    }

    private static func storeZones(_ database: Database, _ settings: Settings, _ logger: Logger) throws {
        let stored = try StoredZones.name(database)
        let files: ZoneFiles
        if let folder = settings[zonesFolder] {
            files = try ZoneFiles(folder: URL(filePath: folder))
        } else {
            do { files = try ZoneFiles(folder: URL(filePath: ZoneFiles.usualFolder)) } catch {
                // Without any, nobody can choose daily times, and all else works.
                if stored == nil {
                    logger.warning("no time zones were stored, so nobody can choose daily times: \(error.advice)")
                } else if let error = error as? ZoneFilesError, case .changing = error {
                    logger.warning("left the stored time zones alone: \(error)")
                }
                return
            }
            if let stored {
                guard let old = ZoneRelease(stored), let new = ZoneRelease(files.name) else {
                    logger.notice(
                        "left the stored time zones alone: which are newer can't be told by their names; --zones-dir replaces them",
                        metadata: ["stored": "\(stored)", "machine": "\(files.name)"])
                    return
                }
                guard old < new else { return }
            }
        }
        let missing = try StoredZones.missing(in: files, database)
        if !missing.isEmpty {
            logger.warning(
                "some time zones are missing and stay as they were stored before",
                metadata: ["missing": "\(missing.prefix(20).joined(separator: " "))", "count": "\(missing.count)"])
        }
        guard let changed = try StoredZones.replace(by: files, over: stored, database) else {
            logger.notice("left the time zones alone that another process has stored meanwhile")
            return
        }
        logger.info("stored time zones", metadata: ["version": "\(files.name)", "changed": "\(changed)"])
    }

    static func store(_ settings: Settings) -> SessionStore { SessionStore() }

    static func companions(_ bus: DomainBus) -> [any Service] { [CanarySupport(bus)] }
}
