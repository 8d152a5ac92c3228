import EdgeClient
import Synchronization
import TestKit

/// A reader of the stream: keeps all events, and waits for one.
final class LiveView: Sendable {
    private let events = Observed<[ServerSentEvent]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let hasEnded = Observed(false)

    /// Opens a stream and follows it. Returns when all its sequences have begun, or are over: what happens from then on is an
    /// event.
    /// - Parameters:
    ///   - sequences: The only ones that it carries besides those of group sessions.
    ///   - filter: More of the query, as in `type=PingSent`.
    static func open(
        _ device: Device, following groups: [Group] = [], only sequences: [String]? = nil, filter: [String] = [],
        after lastEventID: String? = nil
    ) async throws -> LiveView {
        try await open(
            try await device.edge.stream(
                token: device.token, following: groups.map(\.id),
                filter: (sequences ?? []).map { "stream=\($0)" } + filter, after: lastEventID),
            following: groups, only: sequences)
    }

    /// Follows a stream, whatever carries it, from its beginning.
    static func open(
        _ stream: some AsyncSequence<ServerSentEvent, any Error> & Sendable, following groups: [Group] = [],
        only sequences: [String]? = nil
    ) async throws -> LiveView {
        let view = LiveView()
        view.task.withLock {
            $0 = Task {
                do { for try await event in stream { view.events.update { $0.append(event) } } } catch {}
                view.hasEnded.update { $0 = true }
                // Those who wait for an event look again.
                view.events.update { _ in }
            }
        }
        for stream in sequences ?? ["account", "contacts", "notifications", "operations"] {
            try await view.wait("the beginning of \(stream)") {
                $0.name == "\(stream).snapshot" || $0.name == "\(stream).resumed"
            }
        }
        for group in groups {
            try await view.wait("the beginning of \(group.id)") {
                ["group.snapshot", "group.resumed", "group.ended"].contains($0.name)
                    && $0.data["group"].string == group.id
            }
        }
        return view
    }

    /// Opens a stream as soon as there is a place for it: a test can't observe when the server notices a drop.
    static func openWhenThereIsRoom(_ device: Device) async throws -> LiveView {
        var attempt = 0
        while true {
            do {
                return try await open(device)
            } catch let refused as EdgeClient.Refused where refused.status == 429 && attempt < 1200 {
                attempt += 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// All so far.
    var all: [ServerSentEvent] { events.value }

    /// The last event's id: where to go on.
    var lastEventID: String? { all.last { $0.id != nil }?.id }

    /// Leaves the stream.
    func close() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// Waits until the server ends it.
    func waitForEnd() async throws {
        do { try await hasEnded.wait("the stream to end") { $0 ? true : nil } } catch {
            throw TimedOut("\(error)\nseen so far:\n\(all.map(\.description).joined(separator: "\n"))")
        }
    }

    /// Waits for an event.
    @discardableResult
    func wait(
        _ what: String, where isMeant: @escaping @Sendable (ServerSentEvent) -> Bool
    ) async throws -> ServerSentEvent {
        do { return try await events.wait(what) { $0.first(where: isMeant) } } catch {
            throw TimedOut("\(error)\nseen so far:\n\(all.map(\.description).joined(separator: "\n"))")
        }
    }

    /// Waits until what came so far is as wanted.
    func waitForAll(_ what: String, until isWanted: @escaping @Sendable ([ServerSentEvent]) -> Bool) async throws {
        do { try await events.wait(what) { isWanted($0) ? true : nil } } catch {
            throw TimedOut("\(error)\nseen so far:\n\(all.map(\.description).joined(separator: "\n"))")
        }
    }

    /// Waits until what came so far is as wanted, or the server ended the stream.
    func waitForEnd(or what: String, _ isWanted: @escaping @Sendable ([ServerSentEvent]) -> Bool) async throws {
        try await waitForAll("\(what), or the end") { [hasEnded] in hasEnded.value || isWanted($0) }
    }

    /// Waits for an event of a stream by its type.
    @discardableResult
    func wait(_ type: String, in stream: String) async throws -> ServerSentEvent {
        try await wait("\(type) in \(stream)") { $0.name == "\(stream).event" && $0.data["type"].string == type }
    }

    /// Waits for an event of a group session by its type and the account that it is about.
    @discardableResult
    func wait(_ type: String, of device: Device? = nil, in group: Group) async throws -> ServerSentEvent {
        try await wait("\(type) in \(group.id)") { $0.isEvent(type, of: device, in: group) }
    }

    /// Waits until there are so many events of a group session of a type and about an account.
    func wait(for count: Int, _ type: String, of device: Device? = nil, in group: Group) async throws {
        do {
            try await events.wait("\(count) \(type) in \(group.id)") { events in
                events.count { $0.isEvent(type, of: device, in: group) } >= count ? true : nil
            }
        } catch {
            throw TimedOut("\(error)\nseen so far:\n\(all.map(\.description).joined(separator: "\n"))")
        }
    }

    /// The types of all events of a group session so far.
    func events(of group: Group) -> [String] {
        all.filter { $0.name == "group.event" && $0.data["group"].string == group.id }
            .compactMap { $0.data["type"].string }
    }

    /// Waits until a notification of a kind is delivered.
    @discardableResult
    func wait(notification kind: String) async throws -> JSON {
        try await wait("a notification \(kind)") {
            $0.name == "notifications.event"
                && $0.data["body"]["notification"]["kind"].string == kind
        }.data["body"]
    }

    /// The state that a stream began with.
    func snapshot(of stream: String) async throws -> JSON {
        try await wait("the snapshot of \(stream)") { $0.name == "\(stream).snapshot" }.data["state"]
    }
}

extension ServerSentEvent {
    /// Whether it is such an event of a group session.
    func isEvent(_ type: String, of device: Device? = nil, in group: Group) -> Bool {
        name == "group.event" && data["group"].string == group.id && data["type"].string == type
            && (device == nil || data["body"]["account"].string == device?.account)
    }
}
