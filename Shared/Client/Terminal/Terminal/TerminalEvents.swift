import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What comes from outside the app.
enum TerminalEvent: Hashable, Sendable {
    case key(Key)
    case resized
    /// It was stopped, and goes on: something else had the terminal meanwhile.
    case resumed
    /// A signal asks it to end, or the terminal is gone.
    case ended(signal: Int32)
}

extension Terminal {
    /// Everything that happens at the terminal from now on. To be asked for once.
    /// - Returns: The events, and what watches for signals as long as it is held.
    func events() -> (AsyncStream<TerminalEvent>, signals: [any DispatchSourceSignal]) {
        let (events, continuation) = AsyncStream<TerminalEvent>.makeStream()
        let signals = [SIGWINCH, SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                switch number {
                case SIGWINCH: continuation.yield(.resized)
                case SIGCONT: continuation.yield(.resumed)
                default: continuation.yield(.ended(signal: number))
                }
            }
            source.activate()
            return source
        }
        let isDumb = abilities.isDumb
        Thread.detachNewThread {
            if isDumb { Self.readLines(continuation) } else { Self.readKeys(continuation) }
            // The terminal is gone.
            continuation.yield(.ended(signal: SIGHUP))
        }
        return (events, signals)
    }

    /// How many milliseconds the rest of a key's sequence may take.
    private static let escapeDelay: Int32 = 50

    private static func readKeys(_ continuation: AsyncStream<TerminalEvent>.Continuation) {
        var parser = KeyParser()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let ready = poll(&input, 1, parser.isWaiting ? escapeDelay : -1)
            if ready < 0 && errno == EINTR { continue }
            guard ready >= 0 else { return }
            if ready == 0 {
                for key in parser.flush() { continuation.yield(.key(key)) }
                continue
            }
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            for key in parser.take(buffer[..<count]) { continuation.yield(.key(key)) }
        }
    }

    private static func readLines(_ continuation: AsyncStream<TerminalEvent>.Continuation) {
        while let line = readLine() {
            for key in Key.keys(ofLine: line) { continuation.yield(.key(key)) }
        }
    }
}
