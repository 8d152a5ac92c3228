/// The lines that a child process has written, and the waiters for further ones.
///
/// It does no I/O: the lines come in by ``append(_:from:)``, and it answers with those who can go on. Lines are kept up
/// to a limit; waiting looks at what is kept, then at each new line once.
struct ChildOutput {
    /// How many lines are kept.
    static let limit = 60_000

    struct Line: Sendable {
        var number: Int
        var stream: ChildProcess.Stream
        var text: String
    }

    struct Waiter {
        var after: Int
        var stream: ChildProcess.Stream?
        var matches: @Sendable (String) -> Bool
        var resume: (Result<ChildProcess.Line, any Error>) -> Void
    }

    private(set) var lines: [Line] = []
    private(set) var lastNumber = 0
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0
    private var isFinished = false
    private var partial: [ChildProcess.Stream: [UInt8]] = [:]

    /// Takes bytes as they were read and cuts them into lines.
    mutating func append(_ bytes: some Sequence<UInt8>, from stream: ChildProcess.Stream) {
        var rest = partial[stream, default: []]
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                append(line: String(decoding: rest, as: UTF8.self), from: stream)
                rest.removeAll(keepingCapacity: true)
            } else {
                rest.append(byte)
            }
        }
        partial[stream] = rest
    }

    /// The stream has ended; what came after its last line break is a line too.
    mutating func finish(_ stream: ChildProcess.Stream) {
        if let rest = partial.removeValue(forKey: stream), !rest.isEmpty {
            append(line: String(decoding: rest, as: UTF8.self), from: stream)
        }
    }

    /// Fails all waiters: nothing more will come.
    mutating func finish(saying description: String) {
        isFinished = true
        let ended = ChildProcess.Ended(description: description + saidLast)
        for waiter in waiters.values { waiter.resume(.failure(ended)) }
        waiters = [:]
    }

    /// Why a process ended stands in what it said last.
    private var saidLast: String {
        lines.isEmpty ? "" : ", having said last: " + lines.suffix(3).map(\.text).joined(separator: " | ")
    }

    /// A number for ``wait(_:as:)`` and ``cancel(_:)``.
    mutating func makeWaiterID() -> Int {
        nextWaiter += 1
        return nextWaiter
    }

    mutating func wait(_ waiter: Waiter, as id: Int) {
        let seen = lines.first { $0.number > waiter.after && waiter.wants($0) }
        if let seen {
            waiter.resume(.success(ChildProcess.Line(number: seen.number, text: seen.text)))
        } else if isFinished {
            waiter.resume(.failure(ChildProcess.Ended(description: "it has ended and never said so\(saidLast)")))
        } else {
            waiters[id] = waiter
        }
    }

    mutating func cancel(_ id: Int) {
        waiters.removeValue(forKey: id)?.resume(.failure(CancellationError()))
    }

    private mutating func append(line text: String, from stream: ChildProcess.Stream) {
        lastNumber += 1
        let line = Line(number: lastNumber, stream: stream, text: text)
        lines.append(line)
        if lines.count > Self.limit { lines.removeFirst(Self.limit / 2) }
        for (id, waiter) in waiters where line.number > waiter.after && waiter.wants(line) {
            waiters[id] = nil
            waiter.resume(.success(ChildProcess.Line(number: line.number, text: line.text)))
        }
    }
}

extension ChildOutput.Waiter {
    fileprivate func wants(_ line: ChildOutput.Line) -> Bool {
        (stream == nil || stream == line.stream) && matches(line.text)
    }
}
