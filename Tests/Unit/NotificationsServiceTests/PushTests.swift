import Foundation
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Notifications: pushes")
struct PushTests {
    @Test("a device is registered once, and again under another token; no event contains a token (S38)")
    func register() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let device: PushDeviceID = inbox.id()
        func command(_ token: String, _ platform: PushPlatform) -> any CommandBody {
            RegisterPush(device: device, token: token, platform: platform)
        }
        let first = try inbox.ask(anna, command("secret-1", .ios)).first(as: PushRegistered.self)
        #expect(first == PushRegistered(account: anna, device: device, platform: .ios, at: inbox.time))
        #expect(try inbox.ask(anna, command("secret-1", .ios)).isEmpty)
        #expect(try inbox.ask(anna, command("secret-2", .ios)).count == 1)
        #expect(try inbox.ask(anna, command("secret-2", .android)).count == 1)
        #expect(inbox.state(anna).pushDevices == [device] && inbox.replicas[anna] == inbox.state(anna))
        try inbox.ask(nil, ForgetPush(account: anna, device: device, token: "secret-2"))
        for event in inbox.history.flatMap({ (try? $0.ended.get()) ?? [] }) {
            let body = String(decoding: try event.event.body.encoded(), as: UTF8.self)
            #expect(!body.contains("secret"), "\(body)")
        }
    }

    @Test(
        "a token is printable ASCII without spaces, and not too long (S38)",
        arguments: ["", "a b", "a\n", "tëst", "\u{7F}", String(repeating: "x", count: 4097)])
    func badToken(token: String) throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let register = RegisterPush(device: inbox.id(), token: token, platform: .web)
        do {
            try inbox.ask(anna, register)
            throw Unexpected("another event")
        } catch let rejection as Rejection {
            #expect(rejection.code == .invalidField && rejection.field == "token")
        }
    }

    @Test("a token of every printable character and of the greatest length is taken (S38)")
    func goodToken() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        try inbox.register(anna, token: String(decoding: Array(0x21...0x7E as ClosedRange<UInt8>), as: UTF8.self))
        try inbox.register(anna, token: String(repeating: "x", count: 4096))
        #expect(inbox.state(anna).pushDevices.count == 2)
    }

    @Test("an app that signed in again is one device, whatever it was before (S38)")
    func sameToken() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let first = try inbox.register(anna, token: "same")
        let second: PushDeviceID = inbox.id()
        let events = try inbox.ask(anna, RegisterPush(device: second, token: "same", platform: .ios))
        #expect(
            events == [
                .pushRegistered(.init(account: anna, device: second, platform: .ios, at: inbox.time)),
                .pushUnregistered(.init(account: anna, device: first, reason: .replaced, at: inbox.time)),
            ])
        #expect(inbox.state(anna).pushDevices == [second] && inbox.replicas[anna] == inbox.state(anna))
    }

    @Test("an account has up to twenty push devices; a known one may still change its token (S38)")
    func limit() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let devices = try (0..<20).map { _ in try inbox.register(anna) }
        let oneMore = RegisterPush(device: inbox.id(), token: "a-token", platform: .other)
        #expect(try inbox.rejection(anna, oneMore) == .limitReached)
        let again = RegisterPush(device: devices[7], token: "another", platform: .other)
        #expect(try inbox.ask(anna, again).count == 1)
        try inbox.ask(anna, UnregisterPush(device: devices[3]))
        #expect(try inbox.ask(anna, oneMore).count == 1)
        #expect(inbox.state(anna).pushDevices == inbox.state(anna).pushDevices.sorted())
        #expect(inbox.replicas[anna] == inbox.state(anna))
    }

    @Test("every notification is pushed to each device of the account, once, under an id of its own (S38)")
    func push() throws {
        var inbox = Inbox()
        let (anna, ben) = (try inbox.person(), try inbox.person())
        try inbox.tell(anna)
        let devices = [try inbox.register(anna), try inbox.register(anna)].sorted()
        try inbox.register(ben)
        let deliver = DeliverNotification(
            id: inbox.id(), kind: .dependentAlertRaised, subject: ben, details: .init(at: inbox.time))
        try inbox.ask(anna, deliver)
        try inbox.ask(anna, deliver)
        let pushes = inbox.rows.pushes
        #expect(pushes.map(\.key) == devices.map { PushDeviceKey(anna, $0) })
        #expect(Set(pushes.map(\.body.id)).count == 2)
        for body in pushes.map(\.body) {
            #expect(body.notification.id == deliver.id && body.notification.kind == .dependentAlertRaised)
            #expect(body.notification.priority == .critical && body.notification.category == .alerts)
            #expect(body.notification.subject == ben && body.notification.details == deliver.details)
            #expect(body.notification.created == inbox.time && body.unread == 2)
        }
        // So is a scheduled notification.
        let due = inbox.time + .hours(1)
        let later: NotificationID = inbox.id()
        try inbox.ask(anna, ScheduleNotification(id: later, kind: .system, due: due))
        inbox.pass(.hours(1))
        try inbox.ask(nil, DeliverScheduledNotification(account: anna, id: later, due: due))
        #expect(inbox.rows.pushes.map(\.body.notification.id) == [deliver.id, deliver.id, later, later])
        #expect(Set(inbox.rows.pushes.map(\.body.id)).count == 4)
    }

    @Test(
        "the push of a reminder doesn't have its text, which is in the history; it is as loud as its kind, and doesn't wait for a device that was signed out (S39)"
    )
    func reminder() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let phone = try inbox.register(anna)
        let reminder = ScheduleReminder(text: "Water the bonsai", due: inbox.time + .hours(1))
        try inbox.ask(anna, reminder)
        inbox.pass(.hours(1))
        try inbox.ask(nil, DeliverScheduledNotification(account: anna, id: reminder.id, due: reminder.due))
        let pushed = try #require(inbox.rows.pushes.last).body.notification
        #expect(pushed.id == reminder.id && pushed.details == NotificationDetails(reminder: ""))
        #expect(pushed.priority == .normal, "whoever asked for it wants to hear it, whatever receives the push")
        #expect(inbox.state(anna).notifications.first?.details.reminder == "Water the bonsai")
        try inbox.ask(anna, UnregisterPush(device: phone, stillWarns: true))
        #expect(inbox.rows.pushes.isEmpty)
    }

    @Test("an unregistered device gets nothing more, not even what waits (S38)")
    func unregister() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let (phone, tablet) = (try inbox.register(anna), try inbox.register(anna))
        try inbox.tell(anna)
        let unregister = UnregisterPush(device: phone)
        let gone = try inbox.ask(anna, unregister).first(as: PushUnregistered.self)
        #expect(gone == PushUnregistered(account: anna, device: phone, reason: .asked, at: inbox.time))
        #expect(try inbox.ask(anna, unregister).isEmpty)
        try inbox.tell(anna)
        #expect(inbox.rows.pushes.map(\.key) == [PushDeviceKey(anna, tablet), PushDeviceKey(anna, tablet)])
        #expect(inbox.rows.silenced == [PushDeviceKey(anna, phone)])
        #expect(inbox.state(anna).pushDevices == [tablet] && inbox.replicas[anna] == inbox.state(anna))
    }

    @Test(
        "a device that was signed out isn't registered by what it asked for before; one that unregistered may come back (S38)"
    )
    func signedOut() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        for isRegistered in [true, false] {
            let device: PushDeviceID = isRegistered ? try inbox.register(anna) : inbox.id()
            let register = RegisterPush(device: device, token: "new", platform: .ios)
            try inbox.ask(anna, UnregisterPush(device: device))
            #expect(try inbox.ask(anna, register).count == 1)
            let out = UnregisterPush(device: device, stillWarns: true, isSignedOut: true)
            try inbox.ask(anna, out)
            try inbox.ask(anna, out)
            #expect(try inbox.rejection(anna, register) == .deviceSignedOut)
        }
        let other: PushDeviceID = inbox.id()
        try inbox.ask(anna, UnregisterPush(device: other, isSignedOut: true))
        #expect(
            try inbox.rejection(anna, RegisterPush(device: other, token: "t", platform: .ios)) == .deviceSignedOut)
    }

    @Test("a notification that was forgotten and comes again isn't pushed twice while its first push waits")
    func again() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 1
        let anna = try inbox.person()
        let phone = try inbox.register(anna)
        let id: NotificationID = inbox.id()
        try inbox.ask(anna, DeliverNotification(id: id, kind: .contactAdded))
        try inbox.tell(anna)
        try inbox.ask(anna, DeliverNotification(id: id, kind: .system))
        #expect(inbox.rows.pushes.map(\.body.notification.kind).filter { $0 != .pingReceived } == [.contactAdded])
        // Nothing is left of the second, which would warn about the account.
        try inbox.ask(anna, UnregisterPush(device: phone, stillWarns: true))
        #expect(inbox.rows.pushes.isEmpty)
    }

    @Test("a signed-out device still gets waiting pushes about the account, and nothing new (S48)")
    func leaving() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let (phone, tablet) = (try inbox.register(anna), try inbox.register(anna))
        try inbox.tell(anna)
        try inbox.tell(anna, .passwordChanged)
        let unregister = UnregisterPush(device: phone, stillWarns: true)
        let gone = try inbox.ask(anna, unregister).first(as: PushUnregistered.self)
        #expect(gone == PushUnregistered(account: anna, device: phone, reason: .asked, at: inbox.time))
        #expect(try inbox.ask(anna, unregister).isEmpty)
        try inbox.tell(anna, .phoneChanged)
        let toPhone = inbox.rows.pushes.filter { $0.key.device == phone }.map(\.body.notification.kind)
        #expect(toPhone == [.passwordChanged])
        #expect(inbox.state(anna).pushDevices == [tablet] && inbox.replicas[anna] == inbox.state(anna))
        // Signed in again, it is pushed to again.
        try inbox.ask(anna, RegisterPush(device: phone, token: "token-of-\(phone)", platform: .ios))
        #expect(Set(inbox.state(anna).pushDevices) == [phone, tablet])
        try inbox.ask(anna, unregister)
        try inbox.ask(anna, CloseAccount())
        #expect(inbox.rows.pushes.isEmpty && inbox.rows[PushDeviceKey(anna, phone)] == nil)
    }

    @Test("a device reported as gone is deleted, unless it is back under another token (S38)")
    func gone() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let device = try inbox.register(anna, token: "old")
        let forget = ForgetPush(account: anna, device: device, token: "old")
        try inbox.ask(anna, RegisterPush(device: device, token: "new", platform: .ios))
        #expect(try inbox.ask(nil, forget).isEmpty)
        try inbox.ask(anna, RegisterPush(device: device, token: "old", platform: .ios))
        let gone = try inbox.ask(nil, forget).first(as: PushUnregistered.self)
        #expect(gone == PushUnregistered(account: anna, device: device, reason: .gone, at: inbox.time))
        #expect(try inbox.ask(nil, forget).isEmpty)
        let stranger = ForgetPush(account: inbox.id(), device: device, token: "old")
        #expect(try inbox.ask(nil, stranger).isEmpty)
    }

    @Test("that a push was taken is published for an account that is open, and for no other (A16)")
    func taken() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let record = RecordPushTaken(account: anna)
        #expect(try inbox.ask(nil, record) == [.pushTaken(.init(account: anna, at: inbox.time))])
        #expect(try inbox.ask(nil, RecordPushTaken(account: inbox.id())).isEmpty)
        try inbox.ask(anna, CloseAccount())
        #expect(try inbox.ask(nil, record).isEmpty)
    }

    @Test(
        """
        closing unregisters every device and drops what waits; nothing is registered before opening or after closing \
        (S18)
        """)
    func close() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let device = try inbox.register(anna)
        try inbox.tell(anna)
        try inbox.ask(anna, CloseAccount())
        #expect(inbox.rows.pushes.isEmpty && inbox.rows.silenced == [PushDeviceKey(anna, device)])
        #expect(inbox.state(anna) == NotificationsState(account: anna, isClosed: true))
        let register = RegisterPush(device: device, token: "a", platform: .ios)
        let unregister = UnregisterPush(device: device)
        for command in [register, unregister] as [any CommandBody] {
            #expect(try inbox.rejection(anna, command) == .accountClosed)
            #expect(try inbox.rejection(nil, command) == .accountRequired)
        }
        #expect(try inbox.rejection(inbox.id(), register) == .accountNotFound)
        // A device that signs out before its account is known isn't refused.
        #expect(try inbox.ask(inbox.id(), unregister).isEmpty)
        let forget = ForgetPush(account: anna, device: device, token: "a-token")
        #expect(try inbox.ask(nil, forget).isEmpty)
    }

    @Test("a state stored before there were pushes is still read, and so is today's")
    func oldState() throws {
        let old = """
            {"account": "019ce635-a000-8695-80a6-4a7c4bf35624", "unread": 0, "notifications": [], "scheduled": [],
             "isClosed": false}
            """
        let state = try JSONDecoder().decode(NotificationsState.self, from: Data(old.utf8))
        #expect(state == NotificationsState(account: state.account))
        var inbox = Inbox()
        let anna = try inbox.person()
        try inbox.register(anna)
        try inbox.tell(anna)
        let now = inbox.state(anna)
        #expect(try JSONDecoder().decode(NotificationsState.self, from: JSONEncoder().encode(now)) == now)
    }
}
