import Foundation
import QuartetAPI
import QuartetClient
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// What an app's copy costs: the time from a snapshot to the first value, events per second, and memory.
struct ClientBenchmark {
    private static let account = AccountID.new()
    private static let people = (0..<1000).map { _ in AccountID.new() }

    func measure(_ report: inout Report) async throws {
        try await memory(&report)
        try await firstValue(&report)
        try await events(&report)
        try fold(&report)
    }

    // MARK: Figures

    /// An app that shows a thousand contacts and was told of ten thousand notifications.
    private func memory(_ report: inout Report) async throws {
        let before = try Self.residentMegabytes()
        let after = try await Self.withApp { app in
            try app.begin(contacts: Self.people)
            await app.wait(for: \.count, 1000)
            for number in 1...10_000 {
                let notification = QuartetNotification(
                    id: .new(), kind: .pingReceived, subject: Self.people[number % 1000], details: .none,
                    created: Instant(microseconds: Int64(number)))
                let event = NotificationDelivered(
                    account: Self.account, notification: notification, unread: number)
                app.send(try BenchmarkApp.item(event, .notifications, at: number))
            }
            let counts = app.quartet.notifications.notifications.values(of: \.unreadCount)
            for await count in counts where count == 10_000 { break }
            return try Self.residentMegabytes()
        }
        report.add("client_memory_1000_contacts_10000_notifications_mb", after - before, aim: "<= 20")
    }

    private func firstValue(_ report: inout Report) async throws {
        var times: [Double] = []
        for _ in 0..<10 {
            let time = try await Self.withApp { app in
                let snapshot = try Self.snapshot(of: Self.people)
                let begun = ContinuousClock.now
                app.send(snapshot)
                await app.wait(for: \.count, 1000)
                return (ContinuousClock.now - begun).milliseconds
            }
            times.append(time)
        }
        report.add("client_snapshot_of_1000_contacts_p50_ms", times.sorted().percentile(0.5), aim: "<= 50")
    }

    /// Events as the transport hands them over: decoded, folded, shown to a reader.
    private func events(_ report: inout Report) async throws {
        let count = 50_000
        let (seconds, processor) = try await Self.withApp { app in
            try app.begin(contacts: Self.people)
            await app.wait(for: \.count, 1000)
            var items = try (1..<count).map { try BenchmarkApp.item(Self.ping($0), .contacts, at: $0) }
            let last = ContactApprovalSet(account: Self.account, isRequired: true, at: Instant(microseconds: 1))
            items.append(try BenchmarkApp.item(last, .contacts, at: count))
            let (started, cpu) = (ContinuousClock.now, Self.processorSeconds())
            for item in items { app.send(item) }
            await app.wait(for: \.isApprovalRequired, true)
            let seconds = (ContinuousClock.now - started).milliseconds / 1000
            return (seconds, Self.processorSeconds() - cpu)
        }
        report.add("client_events_per_second_1000_contacts", Double(count) / seconds)
        report.add("client_events_per_second_and_core_1000_contacts", Double(count) / processor, aim: ">= 200000")
    }

    /// The fold alone, as the services have it too.
    private func fold(_ report: inout Report) throws {
        let count = 1_000_000
        var state = Self.state(of: Self.people)
        let events = try (0..<1000).map { number in
            let ping = Self.ping(number)
            return try ContactsEvent(type: PingReceived.type, version: PingReceived.version, body: try ping.encoded())
        }
        let started = ContinuousClock.now
        for number in 0..<count { state.apply(events[number % events.count]) }
        let seconds = (ContinuousClock.now - started).milliseconds / 1000
        report.add("client_folds_per_second_1000_contacts", Double(count) / seconds, aim: ">= 200000")
        guard state.contacts.count == 1000 else { throw Failure("the fold lost a contact") }
    }

    // MARK: An app and its server

    private static func withApp<Result: Sendable>(
        _ body: @Sendable (BenchmarkApp) async throws -> Result
    ) async throws -> Result {
        let app = BenchmarkApp(account)
        return try await withThrowingTaskGroup { group in
            group.addTask { await app.connection.run() }
            try await app.opened()
            defer { group.cancelAll() }
            return try await body(app)
        }
    }

    fileprivate static func snapshot(of people: [AccountID]) throws -> StreamItem {
        let state = StreamSnapshot(isRefetched: false, state: try Encoded(state(of: people)).json)
        return .event(.snapshot(.contacts, state), place: BenchmarkApp.place(.contacts, 0))
    }

    private static func state(of people: [AccountID]) -> ContactsState {
        ContactsState(
            account: account,
            contacts: Ordered(
                people.map { person in
                    Contact(
                        account: person, nickname: "Somebody", notes: "Lives next door, has a key", isMyResponder: true,
                        iAmResponder: true, sendPings: true, receivePings: true, notifyOnCheckIn: true,
                        notifyOnMissedCheckIn: true, added: Instant(microseconds: 1), updated: Instant(microseconds: 1),
                        version: 1)
                }))
    }

    private static func ping(_ number: Int) -> PingReceived {
        PingReceived(account: account, contact: people[number % people.count], at: Instant(microseconds: Int64(number)))
    }

    // MARK: This process

    private static func residentMegabytes() throws -> Double {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        guard words.count > 1, let pages = Double(words[1]) else { throw Failure("/proc/self/statm can't be read") }
        return pages * 4096 / 1_048_576
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}

/// An app whose server is in the same process, and says what it is given to say.
private struct BenchmarkApp: Sendable {
    let connection: Connection
    let quartet: Quartet
    private let account: AccountID
    private let output: AsyncThrowingStream<StreamItem, any Error>.Continuation
    private let openings: AsyncStream<Void>

    init(_ account: AccountID) {
        let (items, output) = AsyncThrowingStream<StreamItem, any Error>.makeStream()
        let (openings, opened) = AsyncStream<Void>.makeStream()
        let credentials = Credentials(account: account, device: .new(), refreshToken: "refresh")
        (self.account, self.output, self.openings) = (account, output, openings)
        connection = Connection(
            transport: BenchmarkTransport(account: account, items: items, opened: opened),
            tokens: InMemoryTokenStore(credentials))
        quartet = .live(connection)
    }

    /// Waits until its stream is open.
    func opened() async throws {
        for await _ in openings { return }
    }

    /// Begins all sequences.
    func begin(contacts people: [AccountID]) throws {
        send(try ClientBenchmark.snapshot(of: people))
        try begin(.account, AccountState(account: account, handle: "anna", name: "Anna", profileVersion: 1))
        try begin(.notifications, NotificationsState(account: account))
        try begin(.operations, [String: String]())
    }

    private func begin(_ name: StreamName, _ state: some Encodable) throws {
        let snapshot = StreamSnapshot(isRefetched: false, state: try Encoded(state).json)
        send(.event(.snapshot(name, snapshot), place: Self.place(name, 0)))
    }

    func send(_ item: StreamItem) { output.yield(item) }

    static func item(_ event: some EventBody, _ name: StreamName, at position: Int) throws -> StreamItem {
        let streamed = StreamedEvent(
            type: type(of: event).type, version: type(of: event).version, at: Instant(microseconds: 2),
            body: try event.encoded())
        return .event(.event(name, streamed), place: place(name, position))
    }

    /// Waits for a member of the contacts.
    func wait<Member: Equatable & Sendable>(
        for path: any KeyPath<ReadOnlyContactsState, Member> & Sendable, _ wanted: Member
    ) async {
        for await value in quartet.contacts.contacts.values(of: path) where value == wanted { return }
    }

    static func place(_ name: StreamName, _ position: Int) -> String { "\(name)=\(name).log@7-1/3/\(position)" }
}

private struct BenchmarkTransport: Transport {
    let account: AccountID
    let items: AsyncThrowingStream<StreamItem, any Error>
    let opened: AsyncStream<Void>.Continuation

    func send(_ request: TransportRequest) async throws -> TransportReply {
        guard request.endpoint == .token else { return TransportReply(.success([]), serverTime: .now) }
        let reply = SignedIn(
            account: account, device: .new(), accessToken: "access", expiresIn: 900, refreshToken: "refresh")
        return TransportReply(.success(try Encoded(reply).json), serverTime: .now)
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        opened.yield()
        return OpenedStream(items: items, serverTime: .now)
    }
}
