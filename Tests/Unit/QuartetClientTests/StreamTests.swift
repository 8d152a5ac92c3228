import QuartetAPI
import QuartetVocabulary
import TestKit
import Testing

@testable import QuartetClient

@Suite
struct StreamSequencerTests {
    private static func snapshot(_ name: StreamName) -> StreamEvent {
        .snapshot(name, StreamSnapshot(isRefetched: false, state: []))
    }

    private static func event(_ name: StreamName) -> StreamEvent {
        .event(name, StreamedEvent(type: "X", version: 1, at: Instant(microseconds: 0), body: []))
    }

    private static func begun(_ place: String = "contacts=contacts.log@7-1/3/10") throws -> StreamSequencer {
        var sequencer = StreamSequencer()
        #expect(sequencer.open() == nil)
        #expect(try sequencer.take(snapshot(.contacts), place: place) == .deliver)
        return sequencer
    }

    @Test("an event that arrives twice is delivered once (T14)")
    func duplicates() throws {
        var sequencer = try Self.begun()
        #expect(try sequencer.take(Self.event(.contacts), place: "contacts=contacts.log@7-1/3/12") == .deliver)
        for position in [12, 11, 10] {
            let place = "contacts=contacts.log@7-1/3/\(position)"
            #expect(try sequencer.take(Self.event(.contacts), place: place) == .duplicate)
        }
        #expect(sequencer.open() == "contacts=contacts.log@7-1/3/12")
    }

    @Test("an event from another log, incarnation or partition, or before the sequence has begun, is refused (T14)")
    func gaps() throws {
        for place in [
            "contacts=contacts.log@8-1/3/12", "contacts=contacts.log@7-1/4/12", "account=session.log@7-1/3/12",
        ] {
            var sequencer = try Self.begun()
            #expect(throws: ConnectionError.outOfSequence(.contacts)) {
                try sequencer.take(Self.event(.contacts), place: place)
            }
        }
        var sequencer = try Self.begun()
        _ = sequencer.open()
        #expect(throws: ConnectionError.outOfSequence(.contacts)) {
            try sequencer.take(Self.event(.contacts), place: "contacts=contacts.log@7-1/3/12")
        }
        #expect(throws: ConnectionError.outOfSequence(.account)) {
            try sequencer.take(.resumed(.account), place: nil)
        }
    }

    @Test("a heartbeat moves the sequences that have begun forward, never back and never elsewhere (T13)")
    func heartbeats() throws {
        var sequencer = try Self.begun()
        sequencer.reach("account=session.log@7-1/1/5 contacts=contacts.log@7-1/3/20")
        #expect(sequencer.open() == "contacts=contacts.log@7-1/3/20")
        #expect(try sequencer.take(.resumed(.contacts), place: nil) == .deliver)
        for place in ["contacts=contacts.log@7-1/3/19", "contacts=contacts.log@8-1/3/30", "", nil] {
            sequencer.reach(place)
        }
        #expect(try sequencer.take(Self.event(.contacts), place: "contacts=contacts.log@7-1/3/20") == .duplicate)
        #expect(try sequencer.take(Self.event(.contacts), place: "contacts=contacts.log@7-1/3/21") == .deliver)
    }

    @Test("a sequence that was lost begins with a snapshot, and the others resume (T13)")
    func forgetting() throws {
        var sequencer = try Self.begun()
        let place = "account=session.log@7-1/1/5 contacts=contacts.log@7-1/3/10"
        _ = try sequencer.take(Self.snapshot(.account), place: place)
        #expect(sequencer.open() == place)
        sequencer.forget(.contacts)
        #expect(sequencer.open() == "account=session.log@7-1/1/5")
        #expect(!sequencer.isLive)
    }

    @Test(
        "of events that arrived together those before the first that doesn't continue their sequence are delivered (T14)"
    )
    func runs() throws {
        var sequencer = try Self.begun()
        let places = [11, 12, 12, 13].map { "contacts=contacts.log@7-1/3/\($0)" } + ["contacts=contacts.log@8-1/3/14"]
        let run = (places + [places[3]]).map { StreamItem.event(Self.event(.contacts), place: $0) }
        let (events, failure) = sequencer.take(run[...])
        #expect(events.count == 3 && failure == .outOfSequence(.contacts))
        #expect(sequencer.place(of: .contacts) == nil)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct StreamArrivalsTests {
    @Test("what arrived while its reader was busy is read at once and in its order, and the end after all of it (T13)")
    func arrivals() async throws {
        struct Cut: Error {}
        for error in [nil, Cut()] as [Cut?] {
            let (items, output) = AsyncThrowingStream<StreamItem, any Error>.makeStream()
            let sent = (1...3).map { StreamItem.heartbeat(place: "\($0)") }
            for item in sent { output.yield(item) }
            output.finish(throwing: error)
            let arrivals = StreamArrivals()
            await arrivals.collect(items)
            let arrived = try await arrivals.next()
            #expect(arrived == sent)
            if error == nil {
                let end = try await arrivals.next()
                #expect(end == nil)
            } else {
                await #expect(throws: Cut.self) { try await arrivals.next() }
            }
        }
    }

    @Test("a reader that waits gets what comes, one thing after the other (T13)")
    func waiting() async throws {
        let (items, output) = AsyncThrowingStream<StreamItem, any Error>.makeStream()
        let arrivals = StreamArrivals()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await arrivals.collect(items) }
            for number in 1...100 {
                let item = StreamItem.heartbeat(place: "\(number)")
                output.yield(item)
                let arrived = try await arrivals.next()
                #expect(arrived == [item])
            }
            output.finish()
            let end = try await arrivals.next()
            #expect(end == nil)
        }
    }
}

@Suite
struct StreamParsingTests {
    private static let text = """
        retry: 1000
        : 

        id: contacts=a/1
        event: contacts.snapshot
        data: {"refetched":true,"state":{"a":"}\\"{","b":[1,{"c":null}]}}

        event: person\r
        data: {"account":\r
        data:  1}\r
        \r
        id: contacts=a/2
        event: contacts.event
        data: {"type":"PingSent","version":1,"at":17,"correlation":null,"command":"01a10000-0000-7000-8000-000000000001","body":{"x":1}}

        id: contacts=a/3
        event: heartbeat
        data: {}

        event: end
        data: {"reason":"tokenExpired"}

        event: future.event
        data: {"what":"a newer server says"}


        """

    @Test("however the bytes of a stream are cut, the same items come out (S10)")
    func cuts() async throws {
        let bytes = Array(Self.text.utf8)
        func items(_ pieces: [ArraySlice<UInt8>]) throws -> [StreamItem] {
            var parser = ServerSentEventParser()
            return try pieces.flatMap { try parser.read($0) }.compactMap { try StreamItem($0) }
        }
        let command = try #require(CommandID("01a10000-0000-7000-8000-000000000001"))
        let expected: [StreamItem] = [
            .heartbeat(),
            .event(
                .snapshot(
                    .contacts,
                    StreamSnapshot(isRefetched: true, state: Array(#"{"a":"}\"{","b":[1,{"c":null}]}"#.utf8))),
                place: "contacts=a/1"),
            .event(.person(Encoded(json: Array("{\"account\":\n 1}".utf8))), place: nil),
            .event(
                .event(
                    .contacts,
                    StreamedEvent(
                        type: "PingSent", version: 1, at: Instant(microseconds: 17), command: command,
                        body: Array(#"{"x":1}"#.utf8))), place: "contacts=a/2"),
            .heartbeat(place: "contacts=a/3"),
            .end(StreamEnd(.tokenExpired)),
        ]
        #expect(try items([bytes[...]]) == expected)
        try await withRandom { random in
            for _ in 0..<100 {
                var (pieces, start): ([ArraySlice<UInt8>], Int) = ([], 0)
                while start < bytes.count {
                    let end = min(bytes.count, start + Int.random(in: 1...40, using: &random))
                    pieces.append(bytes[start..<end])
                    start = end
                }
                try #require(try items(pieces) == expected)
            }
        }
    }

    @Test(
        "what isn't a JSON object is refused, not read half",
        arguments: ["", "[", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":\"x}", "{\"a\":[1}", "{\"a\":1,}"])
    func malformed(text: String) {
        #expect(throws: TransportError.self) { try JSONMembers(Array(text.utf8)) }
    }

    @Test("dates of HTTP are read to the second")
    func dates() {
        #expect(Instant(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT") == Instant(microseconds: 784_111_777_000_000))
        #expect(Instant(httpDate: "Thu, 29 Feb 2024 00:00:00 GMT") == Instant(microseconds: 1_709_164_800_000_000))
        #expect(Instant(httpDate: "Thu, 01 Jan 1970 00:00:00 GMT") == Instant(microseconds: 0))
        for seconds: Int64 in [0, 68_256_000, 784_111_777, 951_782_400, 1_709_164_800, 4_107_542_399, 253_402_300_799] {
            let time = Instant(microseconds: seconds * 1_000_000)
            #expect(Instant(httpDate: time.httpDate) == time)
        }
        #expect(Instant(microseconds: 784_111_777_000_000).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(Instant(httpDate: "tomorrow") == nil && Instant(httpDate: "Sun, 06 Foo 1994 08:49:37 GMT") == nil)
    }
}
