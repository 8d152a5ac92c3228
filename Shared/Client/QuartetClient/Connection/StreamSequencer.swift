import API

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
        /// The token up to the position: log, incarnation and partition.
        let sequence: Substring
        let position: Int64?

        init(_ text: String) {
            self.text = text
            let slash = text.lastIndex(of: "/")
            sequence = slash.map { text[..<$0] } ?? text[...]
            position = slash.flatMap { Int64(text[text.index(after: $0)...]) }
        }
    }

    private var places: [StreamName: Place] = [:]
    private var begun: Set<StreamName> = []

    /// Whether every sequence has begun since the stream was opened.
    var isLive: Bool { begun.isSuperset(of: Self.sequences) }

    /// Begins a new stream.
    /// - Returns: Where it resumes; nil if it has to begin with snapshots.
    mutating func open() -> String? {
        begun = []
        let parts = places.map { "\($0.key)=\($0.value.text)" }.sorted()
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

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
                next.sequence == last.sequence
            else { throw .outOfSequence(name) }
            if let last = last.position, let next = next.position, next <= last { return .duplicate }
            places[name] = next
        case .begun, .groupEnded, .groups, .person, .personEnded, .signal: break
        }
        return .deliver
    }

    /// The server has looked so far: what comes next is later. Sequences that have not begun stay where they are.
    mutating func reach(_ place: String?) {
        for name in begun {
            guard let last = places[name], let next = Self.part(name, of: place), next.sequence == last.sequence,
                let reached = next.position, let position = last.position, reached > position
            else { continue }
            places[name] = next
        }
    }

    /// The part of a place that is about one sequence: `name=token`.
    private static func part(_ name: StreamName, of place: String?) -> Place? {
        let prefix = "\(name)="
        return place?.split(separator: " ").first { $0.hasPrefix(prefix) }
            .map { Place(String($0.dropFirst(prefix.count))) }
    }
}
