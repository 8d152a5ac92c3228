import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import Testing

@Suite("Notifications: receipts")
struct ReceiptTests {
    @Test(
        "what an app shows is noted once for each device, with its time, and is deleted with the notification (A13)")
    func shown() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 2
        let anna = try inbox.person()
        let ids = [try inbox.tell(anna), try inbox.tell(anna)].sorted()
        let (phone, tablet): (PushDeviceID, PushDeviceID) = (inbox.id(), inbox.id())
        let at = inbox.time
        inbox.pass(.minutes(1))
        func show(_ ids: [NotificationID], on device: PushDeviceID, at shown: Instant? = nil) -> any CommandBody {
            ShowNotifications(ids: ids, device: device, shown: shown)
        }
        #expect(
            try inbox.ask(anna, show(ids, on: phone, at: at)) == [
                .notificationsShown(.init(account: anna, ids: ids, device: phone, shown: at, at: inbox.time))
            ])
        // Again it says nothing; on another device it does. A clock that is ahead is set right.
        #expect(try inbox.ask(anna, show(ids, on: phone)).isEmpty)
        #expect(
            try inbox.ask(anna, show([ids[0]], on: tablet, at: inbox.time + .hours(1))) == [
                .notificationsShown(
                    .init(account: anna, ids: [ids[0]], device: tablet, shown: inbox.time, at: inbox.time))
            ])
        #expect(try inbox.ask(anna, show([inbox.id()], on: phone)).isEmpty)
        #expect(inbox.rows.shown.keys.count == 3)
        for _ in 0..<2 { try inbox.tell(anna) }
        #expect(inbox.rows.shown.keys.isEmpty)
    }

    @Test("receipts come at most 500 at a time, each once (A13)")
    func refused() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let id = try inbox.tell(anna)
        let device: PushDeviceID = inbox.id()
        for ids in [[], [id, id], (0..<501).map { _ in inbox.id() }] as [[NotificationID]] {
            let show = ShowNotifications(ids: ids, device: device)
            #expect(try inbox.rejection(anna, show) == .invalidField)
        }
    }
}
