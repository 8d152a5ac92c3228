import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOCore
import QuartetVocabulary
import Synchronization

/// Signals among five people each, by HTTP to the edge and by server-sent events back. Each signal says when it was sent.
extension ProductBenchmark {
    private static var groups: Int { 40 }
    private static var people: Int { 5 }
    /// As many as a person may send.
    private static var perPerson: Double { 30 }

    func signals(_ seconds: Int, _ report: inout Report) async throws {
        say("\(Self.groups) group sessions of \(Self.people) people")
        let edge = edge
        let sessions = try await withThrowingTaskGroup(of: Session.self) { tasks -> [Session] in
            var sessions: [Session] = []
            for number in 0..<Self.groups {
                // Passwords take time: the edge refuses more sign-ups at once.
                if number >= 4, let session = try await tasks.next() { sessions.append(session) }
                tasks.addTask { try await Session(number, Self.people, at: edge) }
            }
            return try await tasks.reduce(into: sessions) { $0.append($1) }
        }
        try await waitUntilHandled()
        let heard = HeardSignals()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for session in sessions {
                for device in session.devices { tasks.addTask { try await self.listen(device, session.id, heard) } }
            }
            while heard.streams < Self.groups * Self.people { try await Task.sleep(for: .milliseconds(20)) }

            say("as many signals as are taken")
            let most = try await send(Self.perPerson, seconds, sessions, heard)
            report.add("signals_per_second", most.sent)
            report.add("signal_deliveries_per_second", most.heard)

            say("half as many")
            let half = most.sent / 2 / Double(Self.groups * Self.people)
            let rest = try await send(half, seconds, sessions, heard)
            report.add("signal_p50_ms_at_half_load", rest.waits.percentile(0.5))
            report.add("signal_p99_ms_at_half_load", rest.waits.percentile(0.99), aim: "<= 20")
            report.add(
                "signals_lost_percent_at_half_load", 100 * max(0, 1 - rest.heard / (rest.sent * Double(Self.people))))
            tasks.cancelAll()
        }
    }

    /// Everybody sends so many signals a second, but never two at a time.
    /// - Returns: What was taken and heard a second, and how long it took, sorted.
    private func send(
        _ rate: Double, _ seconds: Int, _ sessions: [Session], _ heard: HeardSignals
    ) async throws -> (sent: Double, heard: Double, waits: [Double]) {
        let edge = edge
        _ = heard.take()
        let (begun, pause) = (ContinuousClock.now, Duration.seconds(1 / rate))
        let sent = try await withThrowingTaskGroup(of: Int.self) { tasks -> Int in
            for session in sessions {
                for device in session.devices {
                    tasks.addTask {
                        var sent = 0
                        var due = begun + pause * Double.random(in: 0...1)
                        while due - begun < .seconds(seconds) {
                            try await Task.sleep(until: max(due, ContinuousClock.now), clock: .continuous)
                            let reply = try await edge.send(
                                "POST", "/v1/groups/\(session.id)/signals",
                                body: ["topic": "org.example.pen", "data": ["sent": .int(Instant.now.microseconds)]],
                                token: device.token)
                            if reply.status == 202 { sent += 1 }
                            guard [202, 429].contains(reply.status) else {
                                throw Failure("a signal was answered with \(reply)")
                            }
                            due = max(due + pause, ContinuousClock.now)
                        }
                        return sent
                    }
                }
            }
            return try await tasks.reduce(0, +)
        }
        let took = (ContinuousClock.now - begun) / .seconds(1)
        try await Task.sleep(for: .milliseconds(500))
        let waits = heard.take()
        return (Double(sent) / took, Double(waits.count) / took, waits)
    }

    private func listen(_ device: Device, _ group: String, _ heard: HeardSignals) async throws {
        for try await event in try await edge.stream(token: device.token, following: [group]) {
            switch event.name {
            case "group.snapshot": heard.begins()
            case "signal": heard.take(event.data["data"]["sent"].int ?? 0)
            default: break
            }
        }
    }
}

/// A group session whose people are the host's contacts.
private struct Session: Sendable {
    let id: String
    let devices: [Device]

    init(_ number: Int, _ people: Int, at edge: EdgeClient) async throws {
        var devices: [Device] = []
        for person in 0..<people {
            devices.append(try await Device.signUp("signal-\(number)-\(person)", name: "Anna", at: edge))
        }
        let host = devices[0]
        let created = try await host.act(
            "CreateGroupSession",
            ["activity": ["identifier": "org.example.bench", "type": "generic", "title": "Bench"]])
        guard let id = created["group"].string else { throw Failure("no group session was created: \(created)") }
        let code = try await host.read("/v1/contacts")["code"]
        for device in devices.dropFirst() {
            try await device.act("AddContact", ["code": code, "isMyResponder": true])
        }
        try await host.act(
            "ActivateGroupSession",
            ["group": .string(id), "contacts": .array(devices.dropFirst().map { .string($0.account) })])
        for device in devices.dropFirst() { try await device.act("JoinGroupSession", ["group": .string(id)]) }
        (self.id, self.devices) = (id, devices)
    }
}

/// What all connections heard.
private final class HeardSignals: Sendable {
    private let begun = Atomic(0)
    private let waits = Mutex<[Double]>([])

    var streams: Int { begun.load(ordering: .relaxed) }

    func begins() { begun.add(1, ordering: .relaxed) }

    func take(_ sent: Int64) { waits.withLock { $0.append(Double(Instant.now.microseconds - sent) / 1000) } }

    /// How long signals took since the last call, in milliseconds, sorted.
    func take() -> [Double] {
        waits.withLock { waits in
            defer { waits = [] }
            return waits.sorted()
        }
    }
}
