import QuartetAPI

/// Decides when the stream is opened, given up, waited for and reported, without doing any of it.
///
/// Times are durations since a moment of the caller's choice, on a clock that goes on while the device sleeps. Each opening has a
/// number; what is said about an earlier one is ignored.
struct ConnectionMachine {
    struct Settings: Sendable {
        var policy = ReconnectionPolicy.forever
        /// The server says something every 15 seconds.
        var silence: Duration = .seconds(35)
        /// A connection that was silent for longer may have died while the device slept.
        var quiet: Duration = .seconds(17)
        /// A connection that held for so long starts counting attempts from one.
        var stable: Duration = .seconds(10)
        /// Shorter interruptions change nothing that a person sees.
        var grace: Duration = .seconds(5)
    }

    enum Action: Hashable {
        case open(Int)
        case close(Int)
        case report(ConnectionEvent)
        /// What readers have is live again.
        case live
        /// What readers have is older than the given time.
        case stale(since: Duration)
        /// What readers have won't change by itself.
        case unavailable(ConnectionError)
    }

    private enum Status: Hashable {
        case off
        case opening(attempt: Int)
        case waiting(attempt: Int, until: Duration)
        case live(since: Duration, attempt: Int)
        /// Live until a moment ago: another stream is being opened, because the app wants to follow something else.
        case changing(since: Duration, attempt: Int)
        case signedOut(ConnectionError)
        case failed(ConnectionError)
    }

    let settings: Settings
    private var random: any RandomNumberGenerator & Sendable
    private var status = Status.off
    /// The number of the newest opening.
    private(set) var opening = 0
    private var heard: Duration = .zero
    /// Since when nothing is live; nil once readers know.
    private var lost: Duration?
    private var wasLive = false
    private(set) var lastError: ConnectionError?
    private(set) var connectedSince: Duration?
    private(set) var reconnectionCount = 0

    init(_ settings: Settings, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.settings = settings
        self.random = random
    }

    var state: ConnectionState {
        switch status {
        case .off: .disconnected
        case .opening(attempt: 0): .connecting
        case .opening(let attempt), .waiting(let attempt, _): .reconnecting(attempt: attempt)
        case .live, .changing: .connected
        case .signedOut(let error), .failed(let error): error.state
        }
    }

    /// Whether nobody was signed in when it last heard.
    var isSignedOut: Bool {
        if case .signedOut = status { true } else { false }
    }

    /// When ``passed(now:heard:)`` has to be called.
    var deadline: Duration? {
        let next: Duration? =
            switch status {
            case .opening, .live, .changing: heard + settings.silence
            case .waiting(_, let until): until
            case .off, .signedOut, .failed: nil
            }
        return [next, lost.map { $0 + settings.grace }].compactMap(\.self).min()
    }

    // MARK: What the app wants

    mutating func connect(now: Duration) -> [Action] {
        switch status {
        case .off, .failed: [.report(.willConnect)] + open(attempt: 0, now)
        case .opening, .waiting, .live, .changing, .signedOut: []
        }
    }

    /// - Parameter heard: When something last arrived: until then what is known was what the server has.
    mutating func disconnect(heard: Duration? = nil) -> [Action] {
        let (before, number) = (status, opening)
        let stale = lost.map { [Action.stale(since: $0)] } ?? []
        status = .off
        lost = nil
        switch before {
        case .off, .waiting, .signedOut, .failed: return stale
        case .opening: return [.close(number)] + stale
        case .live, .changing:
            connectedSince = nil
            return [.close(number), .report(.didDisconnect(nil)), .stale(since: heard ?? self.heard)]
        }
    }

    /// Somebody signed in. What was asked for before may have been asked for on behalf of nobody, or of somebody else.
    mutating func signedIn(now: Duration) -> [Action] {
        let last = opening
        switch status {
        case .off: return []
        case .signedOut, .failed: return [.report(.willConnect)] + open(attempt: 0, now)
        case .opening: return [.close(last)] + open(attempt: 0, now)
        case .waiting: return open(attempt: 0, now)
        case .live, .changing: return follow(now: now)
        }
    }

    /// The app came to the foreground. A connection that was silent for too long is opened again; that costs no more than asking
    /// whether it lives.
    mutating func wake(now: Duration, heard: Duration) -> [Action] {
        self.heard = max(self.heard, heard)
        switch status {
        case .live, .changing, .opening: return now - self.heard > settings.quiet ? networkChanged(now: now) : []
        case .off, .waiting, .signedOut, .failed: return hurry(now)
        }
    }

    /// The device has another network, so the connection's socket belongs to one that may be gone.
    mutating func networkChanged(now: Duration) -> [Action] {
        let last = opening
        switch status {
        case .live, .changing: return lose(.stale, now, isImmediate: true)
        case .opening(let attempt): return [.close(last)] + open(attempt: attempt, now)
        case .off, .waiting, .signedOut, .failed: return hurry(now)
        }
    }

    /// Another copy wants to hear how its sequences begin, which a stream that is live has said already.
    mutating func attached(now: Duration) -> [Action] {
        guard case .live = status else { return hurry(now) }
        return lose(.stale, now, isImmediate: true)
    }

    /// The app follows something else from now on. A stream says at its beginning what it follows, so another one is opened.
    mutating func follow(now: Duration) -> [Action] {
        let last = opening
        switch status {
        case .live(let since, let attempt), .changing(let since, let attempt):
            opening += 1
            status = .changing(since: since, attempt: attempt)
            heard = now
            return [.close(last), .open(opening)]
        case .opening(let attempt): return [.close(last)] + open(attempt: attempt, now)
        case .off, .waiting, .signedOut, .failed: return []
        }
    }

    /// An attempt that waits is made now, and one that was given up as well.
    private mutating func hurry(_ now: Duration) -> [Action] {
        switch status {
        case .waiting(let attempt, _): return open(attempt: attempt, now)
        case .failed: return connect(now: now)
        case .off, .opening, .live, .changing, .signedOut: return []
        }
    }

    // MARK: What happens to the stream

    /// Every sequence has begun.
    mutating func began(_ number: Int, now: Duration) -> [Action] {
        guard number == opening else { return [] }
        if case .changing(let since, let attempt) = status {
            status = .live(since: since, attempt: attempt)
            heard = now
            return [.live]
        }
        guard case .opening(let attempt) = status else { return [] }
        status = .live(since: now, attempt: attempt)
        (heard, lost, connectedSince, lastError) = (now, nil, now, nil)
        defer { wasLive = true }
        guard wasLive else { return [.report(.didConnect), .live] }
        reconnectionCount += 1
        return [.report(.didReconnect(attempt: attempt)), .live]
    }

    /// The stream can't go on, or couldn't be opened.
    mutating func ended(_ number: Int, _ error: ConnectionError, now: Duration) -> [Action] {
        guard number == opening else { return [] }
        switch status {
        case .opening, .live, .changing: break
        case .off, .waiting, .signedOut, .failed: return []
        }
        if error.asksToSignIn { return signOut(error) }
        return lose(error, now, isImmediate: error.isMendedByOpening)
    }

    /// Nobody is signed in.
    mutating func signOut(_ error: ConnectionError) -> [Action] {
        lastError = error
        var actions: [Action] = []
        if case .off = status { return [.unavailable(error)] }
        if case .opening = status { actions.append(.close(opening)) }
        switch status {
        case .live, .changing: actions += [.close(opening), .report(.didDisconnect(error))]
        default: break
        }
        status = .signedOut(error)
        (lost, connectedSince) = (nil, nil)
        return actions + [.unavailable(error)]
    }

    /// A deadline has passed.
    /// - Parameter heard: When something last arrived.
    mutating func passed(now: Duration, heard: Duration) -> [Action] {
        self.heard = max(self.heard, heard)
        var actions: [Action] = []
        if let since = lost, now >= since + settings.grace {
            lost = nil
            actions.append(.stale(since: since))
        }
        switch status {
        case .opening, .live, .changing:
            if now >= self.heard + settings.silence { actions += lose(.silent, now) }
        case .waiting(let attempt, let until):
            if now >= until { actions += open(attempt: attempt, now) }
        case .off, .signedOut, .failed: break
        }
        return actions
    }

    private mutating func open(attempt: Int, _ now: Duration) -> [Action] {
        opening += 1
        status = .opening(attempt: attempt)
        heard = now
        return [.open(opening)]
    }

    private mutating func lose(_ error: ConnectionError, _ now: Duration, isImmediate: Bool = false) -> [Action] {
        var (actions, failed) = ([Action.close(opening)], 0)
        lastError = error
        switch status {
        case .live(let since, let attempt), .changing(let since, let attempt):
            actions.append(.report(.didDisconnect(error)))
            lost = now
            connectedSince = nil
            failed = now - since >= settings.stable ? 0 : attempt
        case .opening(let attempt):
            actions.append(.report(.didFail(error)))
            failed = attempt
        case .off, .waiting, .signedOut, .failed: return []
        }
        // One immediate attempt; the next one waits.
        if isImmediate, failed == 0 {
            return actions + [.report(.willReconnect(attempt: 1, delay: .zero))] + open(attempt: 1, now)
        }
        let next = failed + 1
        guard let delay = settings.policy.delay(beforeAttempt: next, using: &random) else {
            status = .failed(error)
            lost = nil
            return actions + [.report(.didGiveUp(attempts: failed)), .unavailable(error)]
        }
        status = .waiting(attempt: next, until: now + delay)
        return actions + [.report(.willReconnect(attempt: next, delay: delay))]
    }
}
