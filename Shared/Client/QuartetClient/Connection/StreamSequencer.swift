import QuartetAPI
import QuartetSessionContract

/// Where an app is in the sequences of its stream, and whether what arrives continues them.
///
/// Every event says where the app is after it. A sequence's position only ever grows, within one incarnation of one partition of
/// one log. An event at a position that the app has reached is a duplicate; one from elsewhere, or one before its sequence has
/// begun, means that something is missing.
struct StreamSequencer {
    /// Those of an account. The connection is live when each has begun.
    static let sequences = Set(StreamName.ofAccount)

    enum Verdict: Hashable {
        case deliver
        case duplicate
    }

    private struct Place: Hashable {
        let text: String
        /// How much of it says log, incarnation and partition: all before the position.
        private let head: Int
        let position: Int64?

        init(_ text: String) {
            self.text = text
            let tail = text.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.count
            let isDivided = tail < text.utf8.count
            head = isDivided ? text.utf8.count - tail - 1 : text.utf8.count
            position = isDivided ? Int64(Substring(text.utf8.suffix(tail))) : nil
        }

        func isOfSameSequence(as other: Self) -> Bool {
            head == other.head && text.utf8.prefix(head).elementsEqual(other.text.utf8.prefix(head))
        }
    }

    private var places: [StreamName: Place] = [:]
    private var begun: Set<StreamName> = []
    /// The group sessions that the stream follows.
    private var followed: Set<StreamName> = []

    /// Whether every sequence has begun since the stream was opened, or is over.
    var isLive: Bool { begun.isSuperset(of: Self.sequences) && begun.isSuperset(of: followed) }

    /// Begins a new stream.
    /// - Parameter groups: The group sessions that it follows.
    /// - Returns: Where it resumes; nil if it has to begin with snapshots.
    mutating func open(following groups: [GroupID] = []) -> String? {
        begun = []
        followed = Set(groups.map { .group($0) })
        // Nothing is known about a sequence after the stream stopped following it.
        places = places.filter { Self.sequences.contains($0.key) || followed.contains($0.key) }
        let parts = places.map { "\($0.key)=\($0.value.text)" }.sorted()
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// Where a sequence is; nil if it hasn't begun.
    func place(of name: StreamName) -> String? { places[name]?.text }

    /// The sequence goes on from where the device kept it.
    mutating func restore(_ name: StreamName, at place: String) { places[name] = Place(place) }

    /// The sequence has to begin with a snapshot next time.
    mutating func forget(_ name: StreamName) {
        places[name] = nil
        begun.remove(name)
    }

    mutating func forgetAll() { self = Self() }

    /// - Parameter place: Where the app is after the event, as the server said it.
    /// - Throws: ``ConnectionError/outOfSequence(_:)``.
    mutating func take(_ event: StreamEvent, place: String?) throws(ConnectionError) -> Verdict {
        switch event {
        case .snapshot(let name, _):
            guard let place = Self.part(name, of: place) else { throw .outOfSequence(name) }
            places[name] = place
            begun.insert(name)
        case .resumed(let name):
            guard places[name] != nil else { throw .outOfSequence(name) }
            begun.insert(name)
        case .event(let name, _):
            guard begun.contains(name), let last = places[name], let next = Self.part(name, of: place),
                next.isOfSameSequence(as: last)
            else { throw .outOfSequence(name) }
            if let last = last.position, let next = next.position, next <= last { return .duplicate }
            places[name] = next
        case .groupEnded(let ended):
            places[.group(ended.group)] = nil
            begun.insert(.group(ended.group))
        case .begun, .groups, .person, .personEnded, .signal: break
        }
        return .deliver
    }

    /// The server has looked so far: what comes next is later. Sequences that have not begun stay where they are.
    mutating func reach(_ place: String?) {
        for name in begun {
            guard let last = places[name], let next = Self.part(name, of: place), next.isOfSameSequence(as: last),
                let reached = next.position, let position = last.position, reached > position
            else { continue }
            places[name] = next
        }
    }

    /// The part of a place that is about one sequence: `name=token`.
    private static func part(_ name: StreamName, of place: String?) -> Place? {
        guard let place else { return nil }
        // By bytes: it is looked for in each event.
        let prefix = "\(name)=".utf8
        var rest = place.utf8[...]
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: " ") }
            if part.starts(with: prefix), let token = String(part.dropFirst(prefix.count)) { return Place(token) }
            rest = rest[part.endIndex...].dropFirst()
        }
        return nil
    }
}

extension StreamSequencer {
    /// Takes events of one sequence that arrived together.
    /// - Returns: Those to deliver, and why the one after them isn't.
    mutating func take(_ run: ArraySlice<StreamItem>) -> ([StreamEvent], ConnectionError?) {
        var events: [StreamEvent] = []
        events.reserveCapacity(run.count)
        do throws(ConnectionError) {
            for case .event(let event, let place) in run {
                if try take(event, place: place) == .deliver { events.append(event) }
            }
        } catch {
            if case .outOfSequence(let name) = error { forget(name) }
            return (events, error)
        }
        return (events, nil)
    }
}
