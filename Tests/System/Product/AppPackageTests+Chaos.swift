import Foundation
import QuartetClient
import Synchronization
import TestKit
import Testing

extension AppPackageTests {
    /// Three apps that edit while the network loses requests, answers and streams, and while they are ended and started again.
    @Suite
    struct Chaos {
        @Test(
            """
            whatever the network loses and whenever an app is ended, each change is made once and in its order, nobody sees a value \
            go back, and in the end every app has what the server has (S11, S20, S22, T2, T13, T14)
            """)
        func chaos() async throws {
            try await withRandom { random in
                let seeds = (0..<3).map { _ in random.next() }
                try await Quartet.with { quartet in
                    let url = try #require(URL(string: try quartet.url))
                    let faults = Faults(seed: testSeed)
                    let people = ["anna", "bob", "carla"].enumerated().map { index, handle in
                        Person(handle, HTTPTransport(url), faults, seed: seeds[index])
                    }
                    for person in people { try await person.signUp() }
                    for person in people.dropFirst() { try await people[0].add(person) }
                    faults.isOn.withLock { $0 = true }
                    try await withThrowingTaskGroup { group in
                        for person in people { group.addTask { try await person.live(Soak.count(12, long: 1000)) } }
                        try await group.waitForAll()
                    }
                    faults.isOn.withLock { $0 = false }
                    for person in people { try await person.sendEverything() }
                    for person in people { try await person.check(at: url) }
                }
            }
        }
    }

    /// What the network does to every app.
    private final class Faults: Sendable {
        enum Fault { case none, unreachable, lostAnswer, delay }

        let isOn = Mutex(false)
        private let random: Mutex<SeededRandom>

        init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

        func next() -> Fault {
            guard isOn.withLock({ $0 }) else { return .none }
            return random.withLock { random in
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: .unreachable
                case 2, 3: .lostAnswer
                case 4: .delay
                default: .none
                }
            }
        }

        /// After how many items a stream is cut.
        func length() -> Int {
            isOn.withLock { $0 } ? random.withLock { Int.random(in: 1...30, using: &$0) } : .max
        }
    }

    private struct FaultyTransport: Transport {
        let inner: HTTPTransport
        let faults: Faults

        func send(_ request: TransportRequest) async throws -> TransportReply {
            switch faults.next() {
            case .none: break
            case .unreachable: throw TransportError.unreachable("the test says so")
            case .lostAnswer:
                _ = try await inner.send(request)
                throw TransportError.interrupted("the test lost the answer")
            case .delay: try await Task.sleep(for: .milliseconds(50))
            }
            return try await inner.send(request)
        }

        func open(_ request: StreamRequest) async throws -> OpenedStream {
            if case .unreachable = faults.next() { throw TransportError.unreachable("the test says so") }
            var opened = try await inner.open(request)
            let (items, faults) = (Cut(opened.items, after: faults.length()), faults)
            opened.items = AsyncThrowingStream(unfolding: { [inner] in
                // It lives as long as its stream.
                defer { _ = (inner, faults) }
                return try await items.next()
            })
            return opened
        }
    }

    /// A stream that ends early.
    private actor Cut {
        private let items: AsyncThrowingStream<StreamItem, any Error>.Iterator
        private var left: Int

        init(_ items: AsyncThrowingStream<StreamItem, any Error>, after count: Int) {
            self.items = items.makeAsyncIterator()
            left = count
        }

        func next() async throws -> StreamItem? {
            guard left > 0 else { throw TransportError.interrupted("the test cut the stream") }
            left -= 1
            var items = items
            return try await items.next(isolation: self)
        }
    }

    /// Somebody whose device keeps what their app does.
    private final class Person: Sendable {
        let handle: String
        private let transport: FaultyTransport
        private let tokens = InMemoryTokenStore()
        private let store = InMemoryLocalStore()
        private let random: Mutex<SeededRandom>

        init(_ handle: String, _ transport: HTTPTransport, _ faults: Faults, seed: UInt64) {
            self.handle = handle
            self.transport = FaultyTransport(inner: transport, faults: faults)
            random = Mutex(SeededRandom(seed: seed))
        }

        /// Starts the app, runs `body`, and ends it at once.
        private func run(_ body: @Sendable (QuartetClient.Connection, QuartetClient.Quartet) async throws -> Void)
            async throws
        {
            let policy = ReconnectionPolicy(
                attempts: nil, initial: .milliseconds(20), maximum: .milliseconds(200), multiplier: 2)
            let connection = QuartetClient.Connection(
                name: handle, transport: transport, tokens: tokens, store: store, policy: policy)
            let quartet = QuartetClient.Quartet.live(connection)
            try await quartet.session.restore()
            try await withThrowingTaskGroup { group in
                group.addTask { await connection.run() }
                try await body(connection, quartet)
                group.cancelAll()
            }
        }

        func signUp() async throws {
            try await run { connection, quartet in
                _ = try await quartet.session.signUp(
                    SignUpRequest(handle: handle, password: "correct horse battery", name: handle.capitalized))
                try await connection.ready()
            }
        }

        func add(_ other: Person) async throws {
            let code = Mutex<ContactCode?>(nil)
            try await other.run { connection, quartet in
                try await connection.ready()
                code.withLock { $0 = quartet.contacts.contacts.code }
            }
            try await run { connection, quartet in
                try await connection.ready()
                try await quartet.contacts.add(
                    AddContactRequest(code: code.withLock { $0 }, isMyResponder: true, iAmResponder: true))
                try await PackageApp.wait("the contact", quartet.contacts.contacts.values(of: \.ids)) { !$0.isEmpty }
            }
        }

        /// Counts in the profile, in several lives.
        func live(_ count: Int) async throws {
            var done = 0
            while done < count {
                let life = random.withLock { Int.random(in: 1...10, using: &$0) }
                let next = min(count, done + life)
                let first = done + 1
                try await run { connection, quartet in
                    // While the network is bad, others are seen going forward only.
                    let watch = Task { try await Self.watch(quartet) }
                    for number in first...next { try await Self.count(number, quartet) }
                    watch.cancel()
                    if case .failure(let error) = await watch.result, !(error is CancellationError) { throw error }
                }
                done = next
            }
        }

        private static func count(_ number: Int, _ quartet: QuartetClient.Quartet) async throws {
            for await user in quartet.user.user.values where user.account != nil { break }
            let profile = quartet.user.user.profile
            var next = profile
            next.emergencyNote = "\(number)"
            try #require((Int(profile.emergencyNote) ?? 0) == number - 1, "the change before is gone")
            do throws(QuartetError) {
                try await quartet.user.updateProfile(Edit(base: profile, edit: next))
            } catch {
                guard error.isPending else { throw error }
            }
            try #require(quartet.user.user.profile.emergencyNote == "\(number)")
        }

        /// Sees that no number of anybody goes back.
        private static func watch(_ quartet: QuartetClient.Quartet) async throws {
            var last: [AccountID: Int] = [:]
            for await contacts in quartet.contacts.contacts.values {
                for id in contacts.ids {
                    guard let number = contacts.person(by: id).flatMap({ Int($0.emergencyNote ?? "") }) else {
                        continue
                    }
                    try #require(number >= last[id] ?? 0, "a number went back")
                    last[id] = number
                }
            }
        }

        func sendEverything() async throws {
            try await run { connection, quartet in
                try await withDeadline(.patience, "everything to be sent") {
                    for await items in connection.outbox.items.values where items.isEmpty { break }
                }
            }
        }

        /// Compares with an app that has just been installed.
        func check(at url: URL) async throws {
            try await run { connection, quartet in
                try await withDeadline(.patience, "a connection") { try await connection.ready() }
                let fresh = QuartetClient.Connection(transport: HTTPTransport(url), policy: .forever)
                let other = QuartetClient.Quartet.live(fresh)
                try await other.session.signIn(SignInRequest(handle: handle, password: "correct horse battery"))
                try await withThrowingTaskGroup { group in
                    group.addTask { await fresh.run() }
                    try await withDeadline(.patience, "a connection") { try await fresh.ready() }
                    // Signing in was an event, too.
                    try await PackageApp.waitForSame("account", quartet.user.user, other.user.user) { $0 }
                    let (mine, theirs) = (quartet.contacts.contacts, other.contacts.contacts)
                    try await PackageApp.waitForSame("contacts", mine, theirs) { $0.contacts }
                    try await PackageApp.waitForSame("code", mine, theirs) { $0.code }
                    // A snapshot of the contacts comes before the people.
                    try await PackageApp.waitForSame("people", mine, theirs) { $0.ids.map($0.person(by:)) }
                    try await PackageApp.wait("everybody's last number", mine.values) { contacts in
                        contacts.ids.allSatisfy {
                            contacts.person(by: $0)?.emergencyNote == "\(Soak.count(12, long: 1000))"
                        }
                    }
                    try await PackageApp.waitForSame(
                        "notifications", quartet.notifications.notifications, other.notifications.notifications
                    ) { $0 }
                    group.cancelAll()
                }
            }
        }
    }
}
