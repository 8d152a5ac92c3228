import EdgeClient
import Foundation
import QuartetNotificationsContract
import QuartetVocabulary
import TestKit
import Testing

/// From a released version to this build while people use it. `deploy/OPERATING.md` says how.
@Suite("End to end: upgrades", .timeLimit(.minutes(60)))
struct UpgradeTests {
    /// In which order processes are exchanged.
    enum Order: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// As operators are told to: what reads messages goes before what sends new ones.
        case edgeFirst = "session-client first"
        /// An old edge beside new services, as after a mistake or a way back.
        case edgeLast = "session-client last"

        var services: [Quartet.Service] {
            let owners: [Quartet.Service] = [.contacts, .session, .notifications]
            return self == .edgeFirst ? [.sessionClient] + owners : owners + [.sessionClient]
        }

        var testDescription: String { rawValue }
    }

    @Test(
        """
        processes of a released version are exchanged one by one while people go on: nothing is lost, a stream goes on where \
        it was, and each check-in that is missed meanwhile alarms the responder once, on the phone as well, though the one who \
        misses it has just signed in on another device
        """, arguments: ReleasedBuild.versions, Order.allCases)
    func rollOut(from version: String, order: Order) async throws {
        let release = try ReleasedBuild(version)
        let receiver = PushReceiver { _, _ in 200 }
        try await receiver.listen {
            try await Quartet.with(services: [], template: release.template) { quartet in
                let settings = receiver.environment
                for service in Quartet.Service.allCases {
                    try await quartet.start(service, environment: settings, from: release)
                }
                let (bob, anna) = try await quartet.signUp("bob", "anna")
                let alarms = Alarms(quartet: quartet, bob: bob, anna: anna, receiver: receiver)
                try await alarms.prepare()
                let before = try await Kept(bob: bob, anna: anna)
                let annaSaw = try await LiveView.open(anna)
                let lastSeen = annaSaw.lastEventID

                // The old processes go on with the new schema.
                try await Quartet.migrate(quartet.databaseURL)
                try await alarms.missOne()
                for service in order.services {
                    // For a while both run, and share the partitions.
                    let new = try await quartet.startAnother(service, environment: settings)
                    do {
                        try await new.waitForLine(containing: "running")
                        try await alarms.missOne()
                    } catch {
                        print("the new \(service.rawValue):\n\(new.logTail(30))")
                        await new.end()
                        throw error
                    }
                    // The deadline passes while nobody or only the new one is there.
                    try await alarms.missOne {
                        try await quartet.kill(service)
                        return { try await quartet.adopt(new, as: service) }
                    }
                    // Nobody sends anything that the next service to be exchanged doesn't know.
                    _ = try await Device.signIn("bob", device: service.rawValue, at: quartet.edge)
                    try await alarms.missOne()
                    #expect(try await quartet.psql("SELECT count(*) FROM contacts.parked") == "0")
                }
                try await alarms.missOne()
                try await alarms.end()

                let after = try await Kept(bob: bob, anna: anna)
                #expect(after.rest == before.rest && after.rest[0] == "Bobby", "\(before.rest) \(after.rest)")
                #expect(before.notifications.isSubset(of: after.notifications))
                let count = alarms.count.value
                #expect(count == 14)
                if order == .edgeFirst {
                    let reached = """
                        SELECT count(DISTINCT command_id) FROM session_client.contacts_commands
                         WHERE type = 'RecordReached' AND account = '\(bob.account)'
                        """
                    #expect(try await quartet.psql(reached) == "2")
                }
                let kinds = try await anna.kinds()
                #expect(kinds.count { $0 == "dependentCheckInMissed" } == count)
                #expect(kinds.count { $0 == "dependentCheckedInLate" } == count)
                #expect(alarms.pushes().count == count)
                let annaSees = try await LiveView.open(anna, after: lastSeen)
                let resumed = annaSees.all.contains { $0.name == "notifications.resumed" }
                #expect(resumed)
                try await annaSees.waitForAll("all alarms on the stream that the old edge began") { events in
                    Self.alarms(in: events).count >= count
                }
                #expect(Set(Self.alarms(in: annaSees.all)).count == count)
                #expect(Self.alarms(in: annaSees.all).count == count)
                await annaSaw.close()
                await annaSees.close()
            }
        }
    }

    @Test(
        "a released notifications that delivers a new one's reminder, on the new schema, says nothing of its text, to no push service and in no log (S39, R21)",
        arguments: ReleasedBuild.versions)
    func reminder(from version: String) async throws {
        let release = try ReleasedBuild(version)
        let receiver = PushReceiver { _, _ in 200 }
        try await receiver.listen {
            try await Quartet.with(services: [], template: release.template) { quartet in
                let settings = receiver.environment
                for service in Quartet.Service.allCases {
                    try await quartet.start(service, environment: settings, from: release)
                }
                let anna = try await quartet.signUp("anna")
                try await anna.act("RegisterPush", ["token": "annas-phone", "platform": "ios"])
                // The old process goes on with the new schema.
                try await Quartet.migrate(quartet.databaseURL)
                // What a new one has when it has handled the command.
                let command = ScheduleReminder(text: "Water the bonsai", due: .now - .minutes(1))
                let details = String(decoding: try JSONEncoder().encode(command.scheduled.details), as: UTF8.self)
                _ = try await quartet.psql(
                    """
                    WITH s AS (
                        INSERT INTO notifications.scheduled (account, id, kind, details, due_at)
                        VALUES ('\(anna.account)', '\(command.id)', 'system', '\(details)',
                                timestamptz 'epoch' + \(command.due.microseconds) * interval '1 microsecond')
                        RETURNING account, id, due_at
                    )
                    INSERT INTO notifications.timer (key, name, due_at, type, version, body)
                    SELECT 'account/' || s.account, 'DeliverScheduledNotification/' || s.id, s.due_at, 'DeliverScheduledNotification', 1,
                           json_build_object('account', s.account, 'id', s.id, 'due', notifications.microseconds(s.due_at))
                      FROM s
                    """)
                try await anna.wait(toHear: "system", times: 1)
                let push = try await receiver.received.wait("its push") { $0.first }
                #expect(push.body["notification"]["id"].string == "\(command.id)" && !"\(push.body)".contains("bonsai"))
                try await quartet.waitUntilQuiet()
                let found = try await quartet.tablesContaining("bonsai")
                #expect(found.isEmpty)
            }
        }
    }

    /// The alarms that a stream told of, by notification.
    private static func alarms(in events: [ServerSentEvent]) -> [String] {
        events.filter { $0.name == "notifications.event" }.map { $0.data["body"]["notification"] }
            .filter { $0["kind"] == "dependentCheckInMissed" }.compactMap { $0["id"].string }
    }

    @Test(
        """
        a process that restarts beside a newer schema runs if the schema's migrations say that they are compatible with it, and \
        otherwise waits, saying why
        """)
    func newerSchema() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            for service in Quartet.Service.allCases {
                let schema = service.rawValue.replacing("-", with: "_")
                _ = try await quartet.psql(
                    """
                    INSERT INTO \(schema).migration (number, file, checksum, duration, compatible_with)
                    VALUES (9000, '9000-later.sql', 'unknown', '0', '0.1.0')
                    """)
                try await quartet.restart(service)
                try await quartet.process(of: service).waitForLine(containing: "running")
            }
            try await bob.act("CheckIn")
            _ = try await quartet.psql("UPDATE session.migration SET compatible_with = '999.0.0' WHERE number = 9000")
            try await quartet.restart(.session)
            let waiting = try await quartet.process(of: .session).waitForLine(containing: "waiting for the database")
            #expect(waiting.text.contains("schema session is newer than this build, which lacks 9000-later.sql"))
            // As soon as it fits, it runs.
            _ = try await quartet.psql("DELETE FROM session.migration WHERE number = 9000")
            try await quartet.process(of: .session).waitForLine(containing: "running")
            try await bob.act("RaiseAlert")
        }
    }
}

/// Bob, who misses one check-in after the other, and Anna, who is alarmed.
private struct Alarms {
    let quartet: Quartet
    let bob: Device
    let anna: Device
    let receiver: PushReceiver
    let count = Observed(0)

    /// Everything that should still be there afterwards.
    func prepare() async throws {
        try await anna.add(bob)
        try await anna.act("RegisterPush", ["token": "annas-phone", "platform": "ios"])
        try await anna.act(
            "UpdateContact", ["contact": .string(bob.account), "expectedVersion": 1, "nickname": "Bobby"])
        try await anna.ping(bob)
        try await bob.wait(toHear: "pingReceived")
        try await quartet.waitUntilQuiet()
    }

    /// Has Bob check in, so that the last alarm ends, and miss the next deadline, and waits until Anna knows of it.
    /// - Parameter whileAway: Makes something go away before the deadline and returns how it comes back.
    func missOne(
        whileAway: () async throws -> @Sendable () async throws -> Void = { {} }
    ) async throws {
        let number = count.value + 1
        count.update { $0 = number }
        try await bob.act("CheckIn")
        try await anna.wait(toHear: "dependentCheckedInLate", times: number - 1)
        try await quartet.waitUntilQuiet()
        let comeBack = try await whileAway()
        try await quartet.moveDeadline(of: bob)
        try await comeBack()
        try await anna.wait(toHear: "dependentCheckInMissed", times: number)
        try await receiver.received.wait("a push of alarm \(number)") { pushes in
            Self.alarms(in: pushes).count >= number ? true : nil
        }
    }

    /// Has Bob check in after the last alarm.
    func end() async throws {
        try await bob.act("CheckIn")
        try await anna.wait(toHear: "dependentCheckedInLate", times: count.value)
        try await quartet.waitUntilQuiet()
    }

    /// The ids of the alarms that were pushed.
    func pushes() -> Set<String> { Self.alarms(in: receiver.received.value) }

    private static func alarms(in pushes: [PushReceiver.Received]) -> Set<String> {
        Set(pushes.filter { $0.body["notification"]["kind"] == "dependentCheckInMissed" }.map(\.id))
    }
}

/// What people had before an upgrade.
private struct Kept {
    let notifications: Set<String>
    let rest: [JSON]

    init(bob: Device, anna: Device) async throws {
        notifications = Set(
            try await anna.read("/v1/notifications?limit=200")["notifications"].array.compactMap { $0["id"].string })
        let card = try await anna.card(of: bob)
        let account = try await bob.read("/v1/account")
        rest = [
            card["contact"]["nickname"], card["contact"]["iAmResponder"], card["person"]["name"], account["name"],
            account["handle"],
            try await bob.read("/v1/contacts")["code"],
        ]
    }
}

extension Device {
    /// Waits until so many notifications of a kind are in the history.
    fileprivate func wait(toHear kind: String, times: Int) async throws {
        for _ in 0..<6000 {
            if try await kinds().count(where: { $0 == kind }) >= times { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut("waited two minutes for \(times) notifications \(kind); there are \(try await kinds())")
    }
}
