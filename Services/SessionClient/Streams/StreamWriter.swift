import QuartetAPI

/// What carries a stream's events to an app.
protocol StreamTransport: Sendable {
    /// What is written at a time.
    associatedtype Piece: Sendable

    /// Adds an event to what is to be written.
    /// - Parameter place: The app's place in all sequences from here on; nil where the event moves none.
    mutating func add(_ event: StreamEvent, at place: StreamTokens?)
    /// - Parameter place: The app's place in all sequences.
    mutating func addHeartbeat(at place: StreamTokens)
    mutating func add(_ end: StreamEnd)

    /// Whether so much was added that it is written before more is.
    var isFull: Bool { get }
    /// The next piece of what was added.
    mutating func next() -> Piece?
    func write(_ piece: Piece) async throws
}

/// Writes one connection's items. Waiting ones are written together. Each piece has a deadline of its own.
struct StreamWriter<Transport: StreamTransport>: Sendable {
    private let outlet: StreamOutlet
    private let tokens: StreamTokens
    private let deadline: WriteDeadline
    private let transport: Transport

    /// - Parameters:
    ///   - tokens: Where the app was.
    ///   - deadline: How long a write may take.
    init(_ outlet: StreamOutlet, after tokens: StreamTokens, deadline: Duration, _ transport: Transport) {
        self.outlet = outlet
        self.tokens = tokens
        self.deadline = WriteDeadline(deadline)
        self.transport = transport
    }

    /// Writes until the end or until the app has left.
    func run() async throws {
        var (transport, position, count) = (transport, tokens, 0)
        for await item in outlet.items where outlet.end == nil {
            let hasMore = outlet.taken()
            switch item {
            case .heartbeat: transport.addHeartbeat(at: position)
            case .moved(let place):
                position[place.name] = place.token
                count += 1
            case .signals: for signal in outlet.takeSignals() { transport.add(.signal(signal), at: nil) }
            case .left: return
            case .event(let event, let place):
                if let place { position[place.name] = place.token }
                transport.add(event, at: place == nil ? nil : position)
                count += 1
            }
            guard !hasMore || transport.isFull else { continue }
            try await write(&transport)
            outlet.giveRoom(count)
            count = 0
        }
        if let end = outlet.end {
            transport.add(end)
            try await write(&transport)
        }
    }

    /// Waits for a write that takes too long.
    /// - Throws: ``StreamIsStuck``.
    func watch() async throws -> Never { try await deadline.watch() }

    private func write(_ transport: inout Transport) async throws {
        while let piece = transport.next() {
            try await deadline.write { try await transport.write(piece) }
        }
    }
}
