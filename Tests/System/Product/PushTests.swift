import EdgeClient
import Foundation
import TestKit
import Testing

/// Notifications reach a person's devices through the system that hands pushes on.
@Suite("End to end: pushes", .timeLimit(.minutes(60)))
struct EndToEndPushTests {
    @Test(
        """
        each notification reaches the device at least once, under one id, though the receiver fails and notifications \
        is killed; but for the beginning of an alert that is over by then (S38)
        """)
    func atLeastOnce() async throws {
        // The first two times each is refused for now.
        let receiver = PushReceiver { push, received in received.count { $0.id == push.id } <= 2 ? 503 : 200 }
        try await Quartet.with(pushingTo: receiver) { quartet in
            try await quartet.announceEveryAlert()
            let bob = try await quartet.signUp("bob")
            try await bob.act("RegisterPush", ["token": "secret-of-bobs-phone", "platform": "ios"])
            for round in 0..<5 {
                try await bob.act("RaiseAlert")
                try await bob.act("ClearAlert")
                guard round % 2 == 1 else { continue }
                let said = try quartet.process(of: .notifications).lines()
                #expect(!said.contains { $0.contains("secret-of-bobs-phone") })
                try await quartet.kill(.notifications)
                // Its attempts belong to it for a minute. The clock can't be moved, so the end of that minute is.
                _ = try await quartet.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await quartet.start(.notifications, environment: receiver.environment)
            }
            try await bob.act("RaiseAlert")
            try await quartet.wait(for: "eleven notifications", "SELECT count(*) FROM notifications.notification") {
                $0 == "11"
            }
            try await quartet.waitUntilPushed()
            let overtaken = Set(
                try await quartet.psql(
                    """
                    SELECT a.notification FROM notifications.push_attempt AS a
                      JOIN notifications.notification AS n ON n.account = a.account AND n.id = a.notification
                     WHERE a.result = 'expired' AND n.kind = 'alertRaised'
                    """
                ).split(separator: "\n").map(String.init))
            #expect(overtaken.count <= 5)

            let told = try await quartet.psql(
                "SELECT string_agg(id::text, ' ' ORDER BY id) FROM notifications.notification")
            let received = receiver.received.value
            let pushes = Dictionary(grouping: received) { $0.body["notification"]["id"].string ?? "" }
            #expect(overtaken.union(pushes.keys).sorted().joined(separator: " ") == told)
            for (notification, same) in pushes {
                let isWhole = same.count >= 3 || overtaken.contains(notification)
                #expect(Set(same.map(\.id)).count == 1 && isWhole, "\(notification): \(same)")
                #expect(Set(same.map(\.body)).count == 1)
            }
            #expect(Set(received.map(\.id)).count == pushes.count)
            for push in received {
                #expect(push.isSigned && push.body["id"].string == push.id)
                #expect(push.body["account"].string == bob.account && push.body["device"].string == bob.id)
                #expect(push.body["token"] == "secret-of-bobs-phone" && push.body["platform"] == "ios")
                let notification = push.body["notification"]
                #expect(notification["category"] == "alerts" && notification["created"].int != nil)
                let isRaised = notification["kind"] == "alertRaised"
                #expect(notification["priority"].string == (isRaised ? "critical" : "normal"))
            }
            let unread = Set(pushes.values.compactMap { $0[0].body["unread"].int })
            #expect(unread.count == pushes.count && unread.isSubset(of: Set(1...11 as ClosedRange<Int64>)))
            let metrics = try await quartet.metrics(of: .notifications)
            #expect(metrics.contains { $0.hasPrefix(#"quartet_push_total{result="done"} "#) })
            #expect(metrics.contains { $0.hasPrefix("quartet_pushes_waiting ") })
            let said = try quartet.process(of: .notifications).lines()
            #expect(!said.contains { $0.contains("secret-of-bobs-phone") })
        }
    }

    @Test("the time from a notification to its push is measured for what is critical, and for nothing else (A1)")
    func timed() async throws {
        let receiver = PushReceiver { _, _ in 200 }
        try await Quartet.with(pushingTo: receiver) { quartet in
            try await quartet.announceEveryAlert()
            let bob = try await quartet.signUp("bob")
            try await bob.act("RegisterPush", ["token": "phone", "platform": "ios"])
            for command in ["RaiseAlert", "ClearAlert", "RaiseAlert"] {
                try await bob.act(command)
                try await quartet.waitUntilQuiet()
                try await quartet.waitUntilPushed()
            }
            let priorities = receiver.received.value.compactMap { $0.body["notification"]["priority"].string }
            let critical = priorities.count { $0 == "critical" }
            #expect(critical == 2 && priorities.contains("normal"), "\(priorities)")
            // It is counted right after the push is recorded.
            let wanted = #"quartet_alarm_seconds_count{leg="pushed"} \#(critical)"#
            var metrics: [String] = []
            for _ in 0..<1200 {
                metrics = try await quartet.metrics(of: .notifications)
                if metrics.contains(wanted) { break }
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(metrics.contains(wanted), "\(metrics.filter { $0.contains("quartet_alarm_seconds_count") })")
        }
    }

    @Test("a device that the receiver reports as gone is deleted (S38)")
    func gone() async throws {
        let receiver = PushReceiver { push, _ in push.body["token"] == "old" ? 410 : 200 }
        try await Quartet.with(pushingTo: receiver) { quartet in
            let bob = try await quartet.signUp("bob")
            try await bob.act("RegisterPush", ["token": "old", "platform": "android"])
            let bobSees = try await LiveView.open(bob)
            let devices = try await bobSees.snapshot(of: "notifications")["pushDevices"]
            #expect(devices == [.string(bob.id)])
            try await bob.act("RaiseAlert")
            let event = try await bobSees.wait("PushUnregistered", in: "notifications")
            #expect(event.data["body"]["reason"] == "gone" && event.data["body"]["device"].string == bob.id)
            try await bob.act("ClearAlert")
            try await bobSees.wait(notification: "alertCleared")
            // Nothing waits, so nothing can be sent.
            let waiting = try await quartet.psql(
                "SELECT (SELECT count(*) FROM notifications.push) + (SELECT count(*) FROM notifications.push_device)")
            #expect(waiting == "0" && receiver.received.value.count == 1)

            try await bob.act("RegisterPush", ["token": "new", "platform": "android"])
            try await bob.act("RaiseAlert")
            let push = try await receiver.received.wait("a push to the device, which is back") {
                $0.first { $0.body["token"] == "new" }
            }
            #expect(push.body["notification"]["kind"] == "alertRaised")
        }
    }

    @Test("a device that signed out gets no more pushes (S38)")
    func signedOut() async throws {
        // The phone can't be reached, so something waits for it when it signs out.
        let receiver = PushReceiver { push, _ in push.body["token"] == "phone" ? 503 : 200 }
        try await Quartet.with(pushingTo: receiver) { quartet in
            let (phone, tablet) = try await quartet.pushToTwo(receiver)
            let out = try await phone.edge.insist("/v1/sign-out", [:], token: phone.token)
            #expect(out.status == 204)
            try await quartet.wait(for: "one device to be left", "SELECT count(*) FROM notifications.push_device") {
                $0 == "1"
            }
            let waiting = try await quartet.psql(
                "SELECT count(*) FROM notifications.push WHERE device = '\(phone.id)'")
            #expect(waiting == "0")
            try await tablet.act("ClearAlert")
            try await receiver.received.wait("a push to the tablet") { pushes in
                pushes.contains { $0.body["notification"]["kind"] == "alertCleared" } ? true : nil
            }
            try await quartet.waitUntilPushed()
            let cleared = receiver.received.value.filter { $0.body["notification"]["kind"] == "alertCleared" }
            #expect(cleared.allSatisfy { $0.body["device"].string == tablet.id })
        }
    }

    @Test("a device signed out by a security change still gets the push about that change, and nothing else (S48)")
    func warned() async throws {
        // The phone can't be reached when the password changes.
        let receiver = PushReceiver { push, received in
            guard push.body["token"] == "phone" else { return 200 }
            return push.body["notification"]["kind"] == "passwordChanged"
                && received.count(where: { $0.id == push.id }) > 2 ? 200 : 503
        }
        try await Quartet.with(pushingTo: receiver) { quartet in
            let (phone, tablet) = try await quartet.pushToTwo(receiver)
            let tabletSees = try await LiveView.open(tablet)
            let changed = try await quartet.edge.insist(
                "/v1/change-password",
                ["password": "a long enough password", "newPassword": "another long password"], token: tablet.token)
            #expect(changed.status == 204)
            let gone = try await tabletSees.wait("PushUnregistered", in: "notifications")
            #expect(gone.data["body"]["device"].string == phone.id)
            try await tablet.act("ClearAlert")
            try await quartet.wait(for: "one device to be left", "SELECT count(*) FROM notifications.push_device") {
                $0 == "1"
            }
            try await quartet.waitUntilPushed()
            let toPhone = receiver.received.value.filter { $0.body["token"] == "phone" }
            #expect(toPhone.count { $0.body["notification"]["kind"] == "passwordChanged" } == 3)
            #expect(!toPhone.contains { $0.body["notification"]["kind"] == "alertCleared" })
        }
    }
}

extension Quartet {
    /// Runs `body` while all four services run, with pushes going to a receiver, and operators served if `hasOperators`.
    static func with(
        pushingTo receiver: PushReceiver, hasOperators: Bool = false, _ body: (Quartet) async throws -> Void
    ) async throws {
        try await receiver.listen {
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: receiver.environment)
                try await quartet.start(.sessionClient, environment: hasOperators ? try quartet.forOperators : [:])
                try await body(quartet)
            }
        }
    }

    /// Registers Bob's phone and tablet, with their names as tokens, and waits until something was pushed to both.
    fileprivate func pushToTwo(_ receiver: PushReceiver) async throws -> (phone: Device, tablet: Device) {
        let phone = try await signUp("bob")
        let tablet = try await Device.signIn("bob", at: edge)
        // The phone must not be pushed to about the tablet's sign-in.
        try await waitUntilQuiet()
        for (device, name) in [(phone, "phone"), (tablet, "tablet")] {
            try await device.act("RegisterPush", ["token": .string(name), "platform": "web"])
        }
        try await tablet.act("RaiseAlert")
        try await receiver.received.wait("a push to both") { pushes in
            Set(pushes.map { $0.body["token"] }).count == 2 ? true : nil
        }
        return (phone, tablet)
    }

    /// Waits until nothing waits to be pushed any more.
    func waitUntilPushed() async throws {
        try await wait(for: "all pushes to be sent", "SELECT count(*) FROM notifications.push") { $0 == "0" }
    }
}
