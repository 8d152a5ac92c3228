import QuartetClient
import Testing

@Suite
struct CheckInPreviewTests {
    @Test("a preview makes a grace and a pause at once, and ends one: no server has to agree (A3, A5)")
    func choices() async throws {
        let client = UserClient.preview(AccountState(account: .new()))
        try await client.setCheckInGrace(.minutes(10))
        #expect(client.user.value.checkIn?.grace == .minutes(10))
        let until = Instant.now + .days(3)
        try await client.pauseCheckIns(until)
        #expect(client.user.value.checkIn?.pausedUntil == until)
        #expect(client.user.value.checkIn?.due == until + .hours(24))
        try await client.resumeCheckIns()
        #expect(client.user.value.checkIn?.pausedUntil == nil)
    }

    @Test("a preview sets daily times at once, and an interval takes their place (A6)")
    func daily() async throws {
        let client = UserClient.preview(AccountState(account: .new()))
        let daily = DailyTimes(times: [1200, 480], weekdays: [.sunday, .monday], zone: "Europe/Berlin")
        try await client.setDailyCheckIns(daily)
        #expect(client.user.value.checkIn?.daily == daily && daily.times == [480, 1200])
        #expect(client.user.value.checkIn?.interval == .hours(132) && daily.weekdays == [.monday, .sunday])
        try await client.setCheckInInterval(.hours(8))
        #expect(client.user.value.checkIn?.daily == nil && client.user.value.checkIn?.interval == .hours(8))
    }

    @Test("a preview runs a drill at once, and reports it (A11)")
    func drill() async throws {
        let client = UserClient.preview(AccountState(account: .new()))
        #expect(try await client.drillReport() == nil)
        try await client.runDrill()
        let drill = try #require(client.user.value.drill)
        #expect(drill.isOn && drill.ends == drill.began + .hours(1))
        #expect(try await client.drillReport()?.drill == drill)
    }

    @Test("a preview sets at once when an unanswered ping raises an alert, for all and for one (A4)")
    func pings() async throws {
        let ben = AccountID.new()
        let responder = Contact(
            account: ben, nickname: "", notes: "", isMyResponder: true, iAmResponder: false, sendPings: true,
            receivePings: true, notifyOnCheckIn: true, notifyOnMissedCheckIn: true, added: .now, updated: .now,
            version: 1)
        let client = ContactsClient.preview(ContactsState(account: .new(), contacts: [responder]))
        #expect(client.contacts.value.pingEscalation == PingEscalation())
        try await client.setPingEscalation(SetPingEscalation(after: .minutes(30)))
        try await client.setPingQuietHours(QuietHours(from: 1320, to: 420))
        try await client.setPingEscalation(SetPingEscalation(contact: ben, after: .seconds(0)))
        let hours = QuietHours(from: 1320, to: 420)
        #expect(client.contacts.value.pingEscalation == PingEscalation(after: .minutes(30), quietHours: hours))
        #expect(client.contacts.value.contact(by: ben)?.pingEscalation == .seconds(0))
        try await client.setPingEscalation(SetPingEscalation(after: nil))
        try await client.setPingQuietHours(nil)
        #expect(client.contacts.value.pingEscalation == PingEscalation())
    }

    @Test("a preview asks again where no alert comes of a ping any more, and leaves one of which one may (A4)")
    func again() async throws {
        let (ben, cleo, due) = (AccountID.new(), AccountID.new(), Instant.now + .minutes(30))
        let plain = AccountID.new()
        let dependents = [ben, cleo, plain].map { account in
            Contact(
                account: account, nickname: "", notes: "", isMyResponder: false, iAmResponder: true, sendPings: true,
                receivePings: true, notifyOnCheckIn: true, notifyOnMissedCheckIn: true, outgoingPing: due,
                outgoingPingDue: account == ben ? due : nil, isOutgoingPingOver: account == cleo ? true : nil,
                added: .now, updated: .now, version: 1)
        }
        let client = ContactsClient.preview(ContactsState(account: .new(), contacts: Ordered(dependents)))
        func canAskAgain(at time: Instant) -> [Bool?] {
            [ben, cleo].map { client.contacts.value.contact(by: $0)?.canAskAgain(at: time) }
        }
        #expect(canAskAgain(at: .now) == [false, true])
        // Just after the ping nothing would come of it.
        #expect(canAskAgain(at: due) == [false, false])
        #expect(canAskAgain(at: due + .seconds(9)) == [false, false])
        #expect(canAskAgain(at: due + .seconds(10)) == [false, true])
        // Nobody chose alerts: asking again would do nothing.
        #expect(client.contacts.value.contact(by: plain)?.canAskAgain(at: due + .hours(1)) == false)
        for contact in [ben, cleo] { try await client.sendPing(contact) }
        let after = [ben, cleo].map { client.contacts.value.contact(by: $0) }
        #expect(after[0]?.outgoingPing == due && after[0]?.outgoingPingDue == due)
        #expect(after[1]?.outgoingPing.map { $0 < due } == true)
    }

    @Test("a preview shows at once who hears later, and who hears first if nobody else does (A10)")
    func order() async throws {
        let (ben, cleo) = (AccountID.new(), AccountID.new())
        let responders = [ben, cleo].map { account in
            Contact(
                account: account, nickname: "", notes: "", isMyResponder: true, iAmResponder: false, sendPings: true,
                receivePings: true, notifyOnCheckIn: true, notifyOnMissedCheckIn: true, added: .now, updated: .now,
                version: 1)
        }
        let client = ContactsClient.preview(ContactsState(account: .new(), contacts: Ordered(responders)))
        #expect(client.contacts.value.hearingOrder.map(\.responders) == [[ben, cleo].sorted()])
        try await client.setResponderTiers([ResponderTier]().moving(cleo, to: .minutes(15)))
        #expect(client.contacts.value.hearingOrder.map(\.responders) == [[ben], [cleo]])
        try await client.setResponderTiers(client.contacts.value.responderTiers.moving(ben, to: .minutes(5)))
        #expect(client.contacts.value.hearingOrder.map(\.after) == [.seconds(0), .minutes(15)])
    }
}
