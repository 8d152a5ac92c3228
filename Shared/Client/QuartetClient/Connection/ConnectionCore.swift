import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// What a connection keeps behind its lock.
struct ConnectionCore: Sendable {
    /// What the connection's task has to do.
    enum Work: Sendable {
        case follow(Int, until: AsyncStream<Never>)
        case wait(until: Duration)
    }

    /// What readers are to hear.
    enum Note: Sendable {
        case changed(from: Info, to: Info)
        case report(ConnectionEvent)
        case liveness(Liveness)
    }

    struct Info: Hashable, Sendable {
        var state: ConnectionState
        var lastError: ConnectionError?
        var connectedSince: Duration?
        var reconnectionCount: Int
        var isNetworkConnected: Bool?
    }

    var machine: ConnectionMachine
    var sequencer = StreamSequencer()
    var consumers: [any StreamConsumer] = []
    /// The group sessions that the stream follows, and for how many.
    var followed: [GroupID: Int] = [:]
    /// Whether something was dropped since somebody else is signed in, or nobody.
    var hasDropped = false
    /// Each ends a stream that is open.
    var stops: [Int: AsyncStream<Never>.Continuation] = [:]
    /// Whether the network reached the server when that was last found out; nil if it wasn't.
    private var isNetworkConnected: Bool?
    private var networkChecked: Duration?
    /// When something last arrived; nil if nothing has.
    var lastHeard: Duration?
    /// The same; the clock's beginning if nothing has.
    var heard: Duration { lastHeard ?? .zero }
    /// Until then, the copies that the device had were what the server has.
    var restored: [StreamName: Instant] = [:]
    /// The next deadline that somebody waits for.
    var awaited: Duration?
    /// What ``Connection/run()`` has to do; nil while it doesn't run.
    var work: AsyncStream<Work>.Continuation?
    /// The newest stream whose beginning was reported to the machine.
    var liveOpening = 0
    /// Counts sign-ins, and accounts that were forgotten.
    var accountCount = 0
    /// Whether somebody needs the server's time to some milliseconds.
    var needsTime = false
    /// Sequences whose copies have changed since the device kept them, and until when it waits for more changes.
    var unkept: Set<StreamName> = []
    var keptUntil: Duration = .zero
    /// In the order in which readers hear them.
    var notes: [Note] = []
    private var isDelivering = false

    init(machine: ConnectionMachine) {
        self.machine = machine
    }

    var info: Info {
        Info(
            state: machine.state, lastError: machine.lastError, connectedSince: machine.connectedSince,
            reconnectionCount: machine.reconnectionCount, isNetworkConnected: isNetworkConnected)
    }

    /// When it was last found out whether the network reaches the server.
    var lastNetworkCheck: Duration? { [networkChecked, lastHeard].compactMap(\.self).max() }

    /// Learns about the network from what happens to the connection.
    mutating func noteNetwork(_ event: ConnectionEvent, _ now: Duration) {
        let isConnected: Bool? =
            switch event {
            case .didConnect, .didReconnect: true
            case .didFail(let error), .didDisconnect(let error?): error.reachesServer
            case .willConnect, .didDisconnect(nil), .willReconnect, .didGiveUp, .refetched: nil
            }
        guard let isConnected else { return }
        (isNetworkConnected, networkChecked) = (isConnected, now)
    }

    /// Has somebody wait for the machine's next deadline.
    mutating func awaitDeadline(_ now: Duration) {
        guard let deadline = machine.deadline, awaited.map({ deadline < $0 || $0 <= now }) ?? true else { return }
        awaited = deadline
        work?.yield(.wait(until: deadline))
    }

    /// False if somebody is delivering notes.
    mutating func beginDelivery() -> Bool {
        defer { isDelivering = true }
        return !isDelivering
    }

    /// Nil ends the delivery.
    mutating func nextNote() -> (Note, [any StreamConsumer])? {
        guard !notes.isEmpty else {
            isDelivering = false
            return nil
        }
        return (notes.removeFirst(), consumers)
    }

    /// - Returns: Whether something was dropped since this was asked last.
    mutating func endDropping() -> Bool {
        defer { hasDropped = false }
        return hasDropped
    }
}
