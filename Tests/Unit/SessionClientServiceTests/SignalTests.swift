import Bus
import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import Testing

@testable import SessionClientService

@Suite("Signals between edge processes")
struct SignalTests {
    private let now = Instant(microseconds: 1_700_000_000_000_000)
    private let group = GroupID.new()
    private let anna = AccountID.new()
    private let ben = AccountID.new()

    private func keys(_ first: UInt8, _ others: UInt8...) throws -> ServerKeys {
        try ServerKeys(
            ([first] + others).map { Data(repeating: $0, count: 32).base64EncodedString() }.joined(separator: "\n"))
    }

    private func signal(
        _ topic: String = "cursor", from sender: AccountID? = nil, to: [AccountID]? = nil, _ data: String = "{}",
        at: Instant? = nil
    ) -> Signal {
        Signal(
            group: group, sender: sender ?? anna, to: to, topic: topic, data: Array(data.utf8), at: at ?? now)
    }

    // MARK: The seal

    @Test("what one process seals another opens, once; nothing of it can be read (P26)")
    func seal() throws {
        var sealer = SignalSealer(keys: try keys(1), edge: .new())
        var opener = SignalOpener(keys: try keys(1))
        let text = Array("where the treasure is".utf8)
        let payload = try sealer.seal(text, at: now)
        let bytes = try #require(Data(base64Encoded: payload))
        #expect(bytes.range(of: Data("treasure".utf8)) == nil)
        #expect(opener.open(payload, now: now) == text)
        #expect(opener.open(payload, now: now) == nil, "a payload counts once")
        let next = try sealer.seal(text, at: now)
        let last = try sealer.seal(text, at: now)
        #expect(opener.open(last, now: now) == text)
        #expect(opener.open(next, now: now) == nil, "an earlier payload than the last one is a repeated one")
        // Another process begins with its own numbers.
        var other = SignalSealer(keys: try keys(1), edge: .new())
        #expect(opener.open(try other.seal(text, at: now), now: now) == text)
    }

    @Test("a payload that was changed anywhere, or that no edge process made, is refused (P26)")
    func forged() throws {
        var sealer = SignalSealer(keys: try keys(1), edge: .new())
        let payload = try sealer.seal(Array("text".utf8), at: now)
        let bytes = try #require(Data(base64Encoded: payload))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            var opener = SignalOpener(keys: try keys(1))
            #expect(opener.open(changed.base64EncodedString(), now: now) == nil, "byte \(index)")
        }
        var opener = SignalOpener(keys: try keys(1))
        for length in [0, 1, 36, 37, 53, bytes.count - 1] {
            #expect(opener.open(bytes.prefix(length).base64EncodedString(), now: now) == nil)
        }
        for text in ["", "0,3", "{}", String(repeating: "A", count: 7999)] {
            #expect(opener.open(text, now: now) == nil)
        }
        var stranger = SignalSealer(keys: try keys(2), edge: .new())
        #expect(opener.open(try stranger.seal([1], at: now), now: now) == nil)
        #expect(opener.open(payload, now: now) != nil)
    }

    @Test("a payload is opened within ten seconds of its time, also after its sender was forgotten (P26)")
    func fresh() throws {
        var sealer = SignalSealer(keys: try keys(1), edge: .new())
        let payload = try sealer.seal([1], at: now)
        for seconds in [-11, 11] as [Int64] {
            var opener = SignalOpener(keys: try keys(1))
            #expect(opener.open(payload, now: now + .seconds(seconds)) == nil)
        }
        var opener = SignalOpener(keys: try keys(1))
        #expect(opener.open(payload, now: now + .seconds(9)) == [1])
        var other = SignalSealer(keys: try keys(1), edge: .new())
        #expect(opener.open(try other.seal([2], at: now + .seconds(30)), now: now + .seconds(30)) == [2])
        #expect(opener.open(payload, now: now + .seconds(30)) == nil)
        #expect(opener.open(payload, now: now + .seconds(9)) == [1], "it is forgotten, so only time protects")
    }

    @Test("while keys change, processes open what was sealed under either (S42)")
    func rotation() throws {
        var old = SignalSealer(keys: try keys(1), edge: .new())
        var new = SignalSealer(keys: try keys(2, 1), edge: .new())
        var opener = SignalOpener(keys: try keys(2, 1))
        #expect(opener.open(try old.seal([1], at: now), now: now) == [1])
        #expect(opener.open(try new.seal([2], at: now), now: now) == [2])
        var behind = SignalOpener(keys: try keys(1, 2))
        #expect(behind.open(try new.seal([3], at: now), now: now) == [3])
    }

    // MARK: What is notified

    @Test("a signal comes back as it was; bytes that end early are no signal")
    func encoding() throws {
        let signals = [
            signal(), signal("a.b", to: [], ""), signal(to: [anna, ben], #"{"é":1}"#),
            signal(
                String(repeating: "t", count: 64), to: (0..<100).map { _ in .new() },
                String(repeating: "x", count: 4096)),
        ]
        var bytes: [UInt8] = []
        for signal in signals {
            let before = bytes.count
            signal.encode(into: &bytes)
            #expect(bytes.count - before == signal.encodedSize)
        }
        #expect(Signal.decode(bytes) == signals)
        #expect(Signal.decode([]) == [])
        var ends: Set<Int> = [0]
        for signal in signals { ends.insert((ends.max() ?? 0) + signal.encodedSize) }
        for end in 0..<bytes.count where !ends.contains(end) { #expect(Signal.decode(Array(bytes.prefix(end))) == nil) }
    }

    @Test("the largest signal fits into a notification, and many small ones share one (P26)")
    func capacity() throws {
        var sealer = SignalSealer(keys: try keys(1), edge: .new())
        let largest = signal(
            String(repeating: "t", count: 64), to: (0..<100).map { _ in .new() }, String(repeating: "x", count: 4096))
        #expect(largest.encodedSize <= SignalSealer.capacity)
        #expect(try sealer.seal([UInt8](repeating: 0, count: SignalSealer.capacity), at: now).utf8.count < 8000)
        #expect(try sealer.seal([UInt8](repeating: 0, count: SignalSealer.capacity + 3), at: now).utf8.count >= 8000)
        var outbox = SignalOutbox()
        for number in 0..<200 { _ = outbox.put(signal("t\(number)", "{\"n\":\(number)}")) }
        _ = outbox.put(largest)
        let (texts, dropped) = outbox.take(now: now)
        #expect(dropped == 0 && outbox.isEmpty && texts.count == 3)
        #expect(texts.allSatisfy { $0.count <= SignalSealer.capacity })
        #expect(texts.compactMap(Signal.decode).joined().count == 201)
    }

    @Test(
        "of what waits to be sent the newest of a sender's topic counts, and the oldest goes when there is too much (P26)"
    )
    func outbox() throws {
        var outbox = SignalOutbox()
        func taken() -> [Signal] { outbox.take(now: now).texts.compactMap(Signal.decode).flatMap { $0 } }
        let newest = [
            signal("cursor", "2"), signal("cursor", from: ben, "3"), signal("typing", "4"),
            signal("cursor", to: [ben], "5"),
        ]
        var dropped = 0
        for signal in [signal("cursor", "1")] + newest { dropped += outbox.put(signal) }
        #expect(dropped == 1 && taken() == newest && outbox.isEmpty && taken().isEmpty)
        for number in 0..<3000 { dropped += outbox.put(signal("t\(number)")) }
        #expect(dropped == 1 + 3000 - 1024)
        var topics: [String] = []
        while !outbox.isEmpty { topics += taken().map(\.topic) }
        #expect(topics == (3000 - 1024..<3000).map { "t\($0)" })
        // After an outage nobody wants to know what was a while ago.
        _ = outbox.put(signal("old", at: now - .seconds(2)))
        _ = outbox.put(signal("new"))
        #expect(outbox.take(now: now).dropped == 1 && outbox.isEmpty)
    }

    // MARK: What connections get

    /// Writes what a test lets it write, and remembers it.
    private final class Capture: Sendable {
        let written = Mutex<[String]>([])
        private let (gate, opener) = AsyncStream<Void>.makeStream()
        let (writes, writer) = AsyncStream<Int>.makeStream()

        func open(_ times: Int = 1) { for _ in 0..<times { opener.yield() } }

        func write(_ lines: [String]) async {
            writer.yield(lines.count)
            for await _ in gate { break }
            written.withLock { $0 += lines }
        }
    }

    private struct Transport: StreamTransport {
        let capture: Capture
        var lines: [String] = []

        var isFull: Bool { false }
        mutating func add(_ event: StreamEvent, at place: StreamTokens?) {
            switch event {
            case .signal(let signal): lines.append("\(signal.topic) \(place == nil ? "without" : "with") place")
            case .resumed(let name): lines.append("\(name)")
            default: lines.append("\(event)")
            }
        }
        mutating func addHeartbeat(at place: StreamTokens) { lines.append("heartbeat") }
        mutating func add(_ end: StreamEnd) { lines.append("end") }
        mutating func next() -> [String]? {
            defer { lines = [] }
            return lines.isEmpty ? nil : lines
        }
        func write(_ piece: [String]) async throws { await capture.write(piece) }
    }

    @Test("a connection that is behind gets the newest signal of each topic, and events wait for few of them (P26)")
    func behind() async throws {
        let (capture, outlet, followers) = (Capture(), StreamOutlet(room: 8), GroupFollowers())
        let delivery = SignalDelivery(to: followers)
        follow(ben, outlet, followers)
        let writer = StreamWriter(
            outlet, after: try StreamTokens(""), deadline: .seconds(60), Transport(capture: capture))
        let running = Task { try await writer.run() }
        var writes = capture.writes.makeAsyncIterator()
        await outlet.put(.event(.resumed(.account)))
        // The connection takes nothing from here on.
        #expect(await writes.next() == 1)
        let senders = (0..<40).map { _ in AccountID.new() }
        for number in 0..<50 {
            for sender in senders {
                delivery.deliver([signal("t\(number % 2)", from: sender, "\"\(String(repeating: "x", count: 900))\"")])
            }
        }
        await outlet.put(.event(.resumed(.contacts)))
        capture.open()
        let portion = try #require(await writes.next())
        capture.open(10)
        outlet.putNow(.left)
        try await running.value
        let lines = capture.written.withLock { $0 }
        let event = try #require(lines.firstIndex(of: "contacts"))
        #expect(event <= 20 && portion >= event, "16 KiB of signals at most come before the event: \(event)")
        #expect(lines.filter { $0.hasSuffix("without place") }.count == lines.count - 2)
    }

    @Test(
        "signals to some reach these and their sender, by every connection; after the end of following, nobody (P26 P27)"
    )
    func recipients() async throws {
        let followers = GroupFollowers()
        let (delivery, cleo) = (SignalDelivery(to: followers), AccountID.new())
        let outlets = (0..<5).map { _ in StreamOutlet(room: 8) }
        for (outlet, account) in zip(outlets, [anna, ben, ben, cleo, .new()]) {
            follow(account, outlet, followers)
        }
        let following = follow(ben, outlets[2], followers)
        // One only looks on.
        follow(.new(), outlets[4], followers, isParticipant: false)
        func taken() -> [[String]] { outlets.map { $0.takeSignals().map(\.topic) } }
        delivery.deliver([signal("some", to: [ben]), signal("all")])
        #expect(taken() == [["some", "all"], ["some", "all"], ["some", "all"], ["all"], []])
        delivery.deliver([Signal(group: .new(), sender: anna, to: nil, topic: "x", data: [], at: now)])
        #expect(taken() == [[], [], [], [], []])
        delivery.deliver([signal("waiting")])
        followers.remove(outlets[1], from: group)
        followers.note(isParticipant: false, at: Position(2), outlets[2], in: group, following)
        delivery.deliver([signal("later")])
        #expect(taken() == [["waiting", "later"], [], [], ["waiting", "later"], []])
    }

    /// A connection joins the session at position 1.
    @discardableResult
    private func follow(
        _ account: AccountID, _ outlet: StreamOutlet, _ followers: GroupFollowers, isParticipant: Bool = true
    ) -> GroupFollowers.Following {
        let following = followers.add(.init(account: account, outlet: outlet), to: group)
        followers.note(isParticipant: isParticipant, at: Position(1), outlet, in: group, following)
        return following
    }

    private func row(_ event: some EventBody, at position: Int64) throws -> Tail.Observation {
        .row(
            RecordedMessage(
                partition: Partition(0), position: Position(position),
                message: Message(
                    kind: .event, type: type(of: event).type, key: .group(group), body: try event.encoded()),
                recordedAt: .now))
    }

    @Test(
        "who isn't in the session any more gets nothing, however far behind their connection is, until they are in it again (P26 P8)"
    )
    func gone() throws {
        let followers = GroupFollowers()
        let delivery = SignalDelivery(to: followers)
        let (outlet, other) = (StreamOutlet(room: 8), StreamOutlet(room: 8))
        let following = follow(ben, outlet, followers)
        follow(anna, other, followers)
        func note(_ isParticipant: Bool, at position: Int64, _ following: GroupFollowers.Following) {
            followers.note(isParticipant: isParticipant, at: Position(position), outlet, in: group, following)
        }
        func taken(_ topic: String) -> [[String]] {
            delivery.deliver([signal(topic)])
            return [outlet, other].map { $0.takeSignals().map(\.topic) }
        }
        #expect(taken("a") == [["a"], ["a"]])
        delivery.deliver([signal("waiting")])
        let left = ParticipantLeft(group: group, account: ben, reason: .removed, by: anna, host: anna, at: now)
        followers.observe(try row(left, at: 20))
        #expect(taken("b") == [[], ["waiting", "b"]])
        // The connection is still among earlier events.
        note(true, at: 15, following)
        #expect(taken("c") == [[], ["c"]])
        note(false, at: 20, following)
        note(true, at: 30, following)
        #expect(taken("d") == [["d"], ["d"]])

        // After a failover nobody knows until they have joined again.
        followers.observe(.reconnected(hasMissedRows: false))
        #expect(taken("e") == [["e"], ["e"]])
        followers.observe(.reconnected(hasMissedRows: true))
        note(true, at: 40, following)
        #expect(!followers.isCurrent(following) && taken("f") == [[], []])
        let again = follow(ben, outlet, followers)
        #expect(followers.isCurrent(again) && taken("g") == [["g"], []])

        let ended = GroupSessionEnded(
            group: group, account: anna, reason: .ended, participants: [anna, ben], invited: [], at: now)
        followers.observe(try row(ended, at: 50))
        note(true, at: 49, again)
        #expect(taken("h") == [[], []])
    }

    @Test("through however many processes a person sends, others get thirty a second and twice as many at once (P26)")
    func flood() throws {
        let (followers, outlet) = (GroupFollowers(), StreamOutlet(room: 8))
        let delivery = SignalDelivery(to: followers)
        follow(ben, outlet, followers)
        delivery.deliver((0..<200).map { signal("t\($0)") })
        let flood = outlet.takeSignals().count
        #expect((60...70).contains(flood))
        delivery.deliver([signal("other", from: ben)])
        #expect(outlet.takeSignals().map(\.topic) == ["other"])
    }

    @Test("a signal's JSON has what was sent, unchanged")
    func json() throws {
        let event = SignalEvent(
            group: group, account: anna, to: nil, topic: "cursor", data: Array(#"{"x":0.50}"#.utf8), at: now)
        #expect(String(decoding: event.json, as: UTF8.self).hasSuffix(#","data":{"x":0.50}}"#))
        let read = try JSONDecoder().decode(JSONValue.self, from: Data(event.json))
        #expect(
            read == [
                "group": .string("\(group)"), "account": .string("\(anna)"), "topic": "cursor",
                "at": .integer(now.microseconds), "data": ["x": .number(0.5)],
            ])
    }
}
