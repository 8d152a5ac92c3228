import Postgres
import QuartetNotificationsContract
import QuartetVocabulary
import Storage
import Testing

@testable import NotificationsService

@Suite("Notifications: which pushes are sent at a time")
struct PushPlacesTests {
    @Test("a device has one place in a lane; an account's alarms take more than its share if others need none (S38)")
    func alone() throws {
        var places = PushPlaces()
        let bob = AccountID.new()
        let devices = (0..<20).map { _ in PushDeviceID.new() }
        places.add(try devices.flatMap { [try push(bob, $0), try push(bob, $0)] }, to: .critical)
        let started = start(100, of: &places)
        // Two of the kept places are left.
        #expect(Set(started.map(\.device)).count == started.count && started.count == PushPlaces.total - 2)
        let others = [AccountID.new(), AccountID.new()]
        places.add([try push(priority: 2)], to: .other)
        places.add(try others.map { try push($0) }, to: .critical)
        let theirs = start(100, of: &places)
        #expect(theirs.map(\.account).sorted() == others.sorted())
        // A device that is done gets its next one.
        let device = started[PushPlaces.total - 3].device
        for push in started.prefix(2) + [started[PushPlaces.total - 3]] { places.end(push) }
        let again = start(100, of: &places)
        #expect(again.count { $0.device == device } == 1)
    }

    @Test("alarms within their account's share always find the kept places (S38)")
    func kept() throws {
        var places = PushPlaces()
        places.add(try (0..<30).map { _ in try push(priority: 2) }, to: .other)
        let first = start(100, of: &places)
        #expect(first.count == PushPlaces.total - PushPlaces.kept)
        let bob = AccountID.new()
        places.add(try (0..<3).map { _ in try push(bob) }, to: .critical)
        let own = start(100, of: &places)
        #expect(own.map(\.account) == [bob, bob])
        places.add([try push(), try push(), try push()], to: .critical)
        let last = start(100, of: &places)
        #expect(last.count { $0.account != bob && $0.priority == 0 } == 2)
    }

    @Test("alarms that were never tried go before those that failed, however long these have been due (S38)")
    func untried() throws {
        var places = PushPlaces()
        let pushes = [try push(attempt: 3, after: 0), try push(attempt: 1, after: 2), try push(attempt: 1, after: 1)]
        places.add(pushes, to: .critical)
        let critical = start(3, of: &places)
        #expect(critical.map(\.device) == [2, 1, 0].map { pushes[$0].device })
        let others = [try push(priority: 1, attempt: 3, after: 0), try push(priority: 1, attempt: 1, after: 1)]
        places.add(others, to: .other)
        let other = start(2, of: &places)
        #expect(other.map(\.device) == others.map(\.device))
    }

    /// Starts as many as may be started, up to a number.
    private func start(_ count: Int, of places: inout PushPlaces) -> [ClaimedPush] {
        var started: [ClaimedPush] = []
        while started.count < count, let push = places.start() { started.append(push) }
        return started
    }

    private func push(
        _ account: AccountID = .new(), _ device: PushDeviceID = .new(), priority: Int32 = 0, attempt: Int32 = 1,
        after seconds: Int64 = 0
    ) throws -> ClaimedPush {
        ClaimedPush(
            account: account, device: device, notification: .new(), body: try JSON(encoding: ["a": 1]),
            attempt: attempt,
            priority: priority, due: Instant(microseconds: seconds * 1_000_000),
            startBy: ContinuousClock.now + .seconds(50),
            token: "a-token", platform: .ios, registered: .now, isOver: false, isSuperseded: false)
    }
}
