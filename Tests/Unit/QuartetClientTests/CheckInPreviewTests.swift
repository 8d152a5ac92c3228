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
}
