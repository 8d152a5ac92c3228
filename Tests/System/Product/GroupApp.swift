import EdgeClient
import Synchronization
import TestKit
import Testing

/// A person's app in a group session: follows its stream, and comes back by itself, through whichever edge answers, until it is
/// closed.
final class GroupApp: Sendable {
    /// An event of the session's stream.
    struct Entry: Hashable, Sendable {
        /// Where in the session's log.
        let position: Int64
        let type: String
        let body: JSON
        /// The hash of the state after it, where it is known.
        let hash: String?
    }

    let device: Device
    let group: Group
    private let edges: [EdgeClient]
    private let state = Observed(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    private struct State: Sendable {
        var events: [ServerSentEvent] = []
        /// How often a stream began with a snapshot.
        var snapshots = 0
        /// How often one went on.
        var resumptions = 0
    }

    private init(_ device: Device, _ group: Group, _ edges: [EdgeClient]) {
        (self.device, self.group, self.edges) = (device, group, edges)
    }

    /// Follows the session; returns when its stream has begun.
    static func open(_ device: Device, in group: Group, at edges: [EdgeClient]) async throws -> GroupApp {
        let app = GroupApp(device, group, edges)
        app.reconnect()
        try await app.state.wait("the snapshot of the group session") { $0.snapshots > 0 ? true : nil }
        return app
    }

    /// Loses the connection.
    func disconnect() async {
        let task = task.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        await task?.value
    }

    /// Comes back, where the stream was cut off.
    func reconnect() {
        task.withLock { $0 = Task { await self.follow() } }
    }

    private func follow() async {
        var attempt = 0
        while !Task.isCancelled {
            do {
                let last = state.value.events.last { $0.id != nil }?.id
                let stream = try await edges[attempt % edges.count].stream(
                    token: device.token, following: [group.id], after: last)
                for try await event in stream { take(event) }
            } catch {}
            attempt += 1
            // As apps do; nothing tells when the edge is back.
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func take(_ event: ServerSentEvent) {
        state.update { state in
            switch event.name {
            case "group.snapshot": state.snapshots += 1
            case "group.resumed": state.resumptions += 1
            default: break
            }
            state.events.append(event)
        }
    }

    /// The session's events so far.
    var entries: [Entry] { state.value.events.compactMap { Self.entry($0, of: group) } }

    var snapshots: Int { state.value.snapshots }
    var resumptions: Int { state.value.resumptions }

    private static func entry(_ event: ServerSentEvent, of group: Group) -> Entry? {
        guard event.name == "group.event", let type = event.data["type"].string,
            let place = event.id?.split(separator: " ").first(where: { $0.hasPrefix("group/\(group.id)=") }),
            let position = place.split(separator: "/").last.flatMap({ Int64($0) })
        else { return nil }
        return Entry(position: position, type: type, body: event.data["body"], hash: event.data["hash"].string)
    }

    /// Waits for an event.
    @discardableResult
    func wait(
        _ type: String, where isMeant: @escaping @Sendable (JSON) -> Bool = { _ in true }
    ) async throws -> Entry {
        let group = group
        return try await state.wait("\(type) in the group session") { state in
            state.events.lazy.compactMap { Self.entry($0, of: group) }.first { $0.type == type && isMeant($0.body) }
        }
    }

    /// Waits until a stream went on so often.
    func wait(resumptions count: Int) async throws {
        try await state.wait("\(count) resumed streams") { $0.resumptions >= count ? true : nil }
    }

    /// Makes a move through whichever edge answers, always under one Idempotency-Key.
    @discardableResult
    func move(_ number: Int64, _ patch: JSON) async throws -> EdgeClient.Reply {
        let (key, body): (String, JSON) = (
            EdgeClient.newKey(), ["group": .string(group.id), "expectedVersion": .int(number), "patch": patch]
        )
        for attempt in 0..<2400 {
            let edge = edges[attempt % edges.count]
            let reply = try? await edge.send(
                "POST", "/v1/commands/UpdateGame", body: body, token: device.token, key: key)
            if let reply, !reply.isTransient { return reply }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("move \(number) found no edge")
    }
}
