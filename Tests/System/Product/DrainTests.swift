import EdgeClient
import Foundation
import RPCClient
import Synchronization
import TestKit
import Testing

/// Processes of the edge that are replaced while apps use them.
@Suite("End to end: draining", .timeLimit(.minutes(60)))
struct DrainTests {
    private struct Edge: Sendable {
        let id: Int
        let client: EdgeClient
        let rpcPort: UInt16
    }

    /// What carries an app's stream.
    private enum Carrier: CaseIterable {
        case http
        case rpc
    }

    /// The edges that apps know, as behind a load balancer that doesn't look at them.
    private final class Fleet: Sendable {
        private let edges = Mutex<[Edge]>([])

        func add(_ edge: Edge) { edges.withLock { $0.append(edge) } }
        func remove(_ id: Int) { edges.withLock { $0.removeAll { $0.id == id } } }

        /// Any of them, and not `other` if there is a choice.
        func pick(not other: Int? = nil) throws -> Edge {
            let found = edges.withLock { edges in
                edges.filter { $0.id != other }.randomElement() ?? edges.randomElement()
            }
            return try #require(found)
        }
    }

    /// How many people there are, and streams of each.
    private static let (people, streams) = (Soak.count(4, long: 34), Soak.count(10, long: 15))
    /// How many commands all of them send in a second.
    private static let rate = 200
    /// The interval that a person sets last.
    private static let last: Int64 = 7 * 86_400_000_000

    /// Sends a command, and once more elsewhere if that isn't answered.
    private static func setInterval(_ interval: Int64, of device: Device, over fleet: Fleet) async throws {
        let (body, key): (JSON, String) = (["interval": .int(interval)], EdgeClient.newKey())
        func send(_ edge: EdgeClient) async throws -> EdgeClient.Reply {
            try await edge.send("POST", "/v1/commands/SetCheckInInterval", body: body, token: device.token, key: key)
        }
        let first = try fleet.pick()
        if let reply = try? await send(first.client), reply.isSuccess { return }
        var reply = try await send(fleet.pick(not: first.id).client)
        // It is waiting, which is no error: the machine may be busy.
        let end = ContinuousClock.now + .patience
        while reply.status == 202, ContinuousClock.now < end {
            reply = try await send(fleet.pick(not: first.id).client)
        }
        guard reply.isSuccess else { throw TimedOut("refused twice: \(reply)") }
    }

    /// What one app saw of an account over all its connections.
    private struct Sight: Sendable {
        var intervals: [Int64] = []
        var snapshots = 0
        var ends: [String] = []
        /// Connections that were over without an end.
        var cuts = 0
    }

    private static func follow(
        _ device: Device, _ carrier: Carrier, over fleet: Fleet, _ begun: Observed<Int>, _ isDraining: Observed<Bool>
    ) async throws -> Sight {
        var (sight, position, edge) = (Sight(), String?.none, try fleet.pick())
        /// Returns whether it has seen the last event.
        func read(_ events: some AsyncSequence<ServerSentEvent, any Error>) async throws -> Bool {
            var isUnderWay = false
            // Also when it throws.
            defer { if isUnderWay { sight.cuts += 1 } }
            for try await event in events {
                isUnderWay = event.name != "end"
                position = event.id ?? position
                if event.name == "account.snapshot" {
                    sight.snapshots += 1
                    begun.update { $0 += 1 }
                }
                if event.name == "end" {
                    sight.ends.append(event.data["reason"].string ?? "")
                    isDraining.update { $0 = true }
                }
                guard event.data["type"] == "CheckInIntervalSet", let interval = event.data["body"]["interval"].int
                else { continue }
                sight.intervals.append(interval)
                if interval == Self.last {
                    isUnderWay = false
                    return true
                }
            }
            return false
        }
        while true {
            do {
                let hasAll =
                    switch carrier {
                    case .http: try await read(try await edge.client.stream(token: device.token, after: position))
                    case .rpc:
                        try await RPCClient.with(port: edge.rpcPort) {
                            try await read($0.watch(token: device.token, after: position))
                        }
                    }
                if hasAll { return sight }
            } catch is CancellationError { throw CancellationError() } catch {}
            try Task.checkCancellation()
            edge = try fleet.pick(not: edge.id)
        }
    }

    @Test(
        """
        edges are replaced one after the other without an error that a client with one retry would see, and streams go on \
        elsewhere over HTTP and gRPC without a gap, a doubling or a new snapshot (T20)
        """)
    func rollingRestart() async throws {
        try await Quartet.with { quartet in
            let fleet = Fleet()
            func start(_ id: Int) async throws -> ChildProcess {
                let process = try await quartet.startAnother(
                    .sessionClient, environment: ["DRAIN_TIME": "20s", "COMMANDS_PER_MINUTE": "1000000"])
                fleet.add(
                    Edge(
                        id: id, client: try await quartet.edge(of: process),
                        rpcPort: try await quartet.rpcPort(of: process)))
                return process
            }
            var edges = [try await start(0), try await start(1)]
            var people: [Device] = []
            for number in 0..<Self.people {
                people.append(try await Device.signUp("person-\(number)", at: fleet.pick().client))
            }
            let (isOver, isDraining, begun) = (Observed(false), Observed(false), Observed(0))
            let streams = Self.people * Self.streams
            let pause = Duration.seconds(1) * Self.people / Self.rate

            try await withThrowingTaskGroup(of: (Int, [Int64], Sight?).self) { group in
                for (index, person) in people.enumerated() {
                    for number in 0..<Self.streams {
                        group.addTask {
                            let carrier = Carrier.allCases[number % Carrier.allCases.count]
                            let sight = try await Self.follow(person, carrier, over: fleet, begun, isDraining)
                            return (index, [], sight)
                        }
                    }
                    group.addTask {
                        try await begun.wait("all streams to begin") { $0 == streams ? true : nil }
                        var (sent, next) = ([Int64](), ContinuousClock.now)
                        while !isOver.value {
                            let interval = 3_600_000_000 + Int64(sent.count)
                            try await Self.setInterval(interval, of: person, over: fleet)
                            sent.append(interval)
                            // So many requests a second, whatever the machine could do.
                            next += pause
                            try await Task.sleep(until: next, clock: .continuous)
                        }
                        try await Self.setInterval(Self.last, of: person, over: fleet)
                        return (index, sent + [Self.last], nil)
                    }
                }
                try await begun.wait("all streams to begin") { $0 >= streams ? true : nil }
                for id in 0..<2 {
                    let old = edges[id]
                    let client = try await quartet.edge(of: old)
                    isDraining.update { $0 = false }
                    old.send(.terminate)
                    try await isDraining.wait("the first stream to be ended") { $0 ? true : nil }
                    let refused = await #expect(throws: EdgeClient.Refused.self) {
                        _ = try await client.stream(token: people[0].token)
                    }
                    #expect(refused?.status == 503 && refused?.body["code"] == "serverStopping")
                    let served = try await client.send("GET", "/v1/account", token: people[0].token)
                    #expect(served.status == 200 && served.headers["connection"] == "close", "\(served)")
                    edges.append(try await start(id + 2))
                    try await old.waitForExit(.exited(0))
                    fleet.remove(id)
                }
                isOver.update { $0 = true }
                var (sent, sights): ([Int: [Int64]], [(Int, Sight)]) = ([:], [])
                for try await (index, intervals, sight) in group {
                    if let sight { sights.append((index, sight)) } else { sent[index] = intervals }
                }
                for (index, sight) in sights {
                    #expect(sight.intervals == sent[index], "nothing missing, nothing twice")
                    #expect(sight.snapshots == 1 && sight.cuts == 0 && Set(sight.ends).isSubset(of: ["serverStopping"]))
                }
                #expect(sights.contains { !$0.1.ends.isEmpty })
            }
            for edge in edges { await edge.end() }
        }
    }
}
