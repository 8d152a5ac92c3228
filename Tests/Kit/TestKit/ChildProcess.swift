import Foundation
public import Glibc
import Synchronization

/// A real process that a test runs, signals, kills and listens to, and that never outlives the test: also after kill -9
/// of the tests a supervisor (`Tests/Kit/Supervisor`) ends it and everything it started.
///
/// ```swift
/// try await ChildProcess.with("ledger", ["run"], environment: ["DATABASE_URL": url]) { ledger in
///     try await ledger.waitForLine(containing: "ready")
///     ledger.send(.kill)
///     #expect(try await ledger.waitForExit() == .killed(.kill))
/// }
/// ```
public final class ChildProcess: Sendable {
    /// Which of its outputs.
    public enum Stream: Sendable, Hashable {
        case output
        case error
    }

    /// A line that it wrote. Pass it as `after` to wait for a later one.
    public struct Line: Sendable, Hashable {
        /// Its number among all lines of both streams, from 1.
        public let number: Int
        /// What it says, without the line break.
        public let text: String
    }

    /// How it ended.
    public enum ExitStatus: Sendable, Hashable {
        /// It ended by itself with this status.
        case exited(Int)
        /// A signal ended it.
        case killed(Signal)
    }

    /// It ended while a test waited for more.
    public struct Ended: Error, CustomStringConvertible {
        /// What was waited for, how it ended, and what it said last.
        public let description: String
    }

    /// What it is called in failures.
    public let name: String
    /// Its process id. Until this object is gone or ``end()`` was called, it belongs to nobody else.
    public let processID: pid_t

    private let supervisor: pid_t
    private let lifeline: Mutex<Int32?>
    private let state: SharedState

    /// What the reading thread shares with the tests.
    private final class SharedState: Sendable {
        let output = Mutex(ChildOutput())
        let exit = Observed<ExitStatus?>(nil)
        let supervisorEnded = Observed(false)
        let started = Observed<Result<pid_t, SpawnFailed>?>(nil)
    }

    /// Starts an executable of this package, or one given by its path, and waits until it runs.
    /// - Parameters:
    ///   - executable: The name of an executable of this package, or a path if it has a slash in it.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment, in addition to `PATH`, `HOME` and the like.
    ///   - name: What it is called in failures; its file name unless given.
    /// - Throws: ``SpawnFailed`` or ``Products/Missing``.
    public static func start(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], name: String? = nil
    ) async throws -> ChildProcess {
        let path = executable.contains("/") ? executable : try Products.executable(executable).path
        let name = name ?? URL(filePath: path).lastPathComponent
        let supervisor = try Products.executable("test-supervisor").path

        let (lifeline, output, error, report) = (try Pipe(), try Pipe(), try Pipe(), try Pipe())
        let supervisorID: pid_t
        do {
            supervisorID = try spawn(
                supervisor, [path] + arguments,
                environment: inheritedEnvironment().merging(environment) { _, new in new },
                descriptors: [lifeline.reading, output.writing, error.writing, report.writing])
        } catch {
            close(lifeline.writing)
            throw error
        }
        for end in [lifeline.reading, output.writing, error.writing, report.writing] { close(end) }

        let state = SharedState()
        let thread = Thread {
            Self.read(output.reading, error.reading, report.reading, into: state, called: name)
            var status: Int32 = 0
            while waitpid(supervisorID, &status, 0) < 0 && errno == EINTR {}
            state.supervisorEnded.update { $0 = true }
        }
        thread.name = name
        thread.start()
        do {
            let processID = try await state.started.wait("\(name) to start") { $0 }.get()
            return ChildProcess(
                name: name, processID: processID, supervisor: supervisorID, lifeline: lifeline.writing, state: state)
        } catch {
            close(lifeline.writing)
            throw error
        }
    }

    /// Starts an executable, runs `body`, and ends it whatever `body` does. When `body` throws, the end of the
    /// process's log is printed.
    /// - Parameters:
    ///   - executable: As in ``start(_:_:environment:name:)``.
    ///   - arguments: Its arguments.
    ///   - environment: Its environment, in addition to `PATH`, `HOME` and the like.
    ///   - name: What it is called in failures.
    ///   - body: What to do while it runs.
    public static func with<Result: Sendable>(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], name: String? = nil,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let child = try await start(executable, arguments, environment: environment, name: name)
        do {
            let result = try await body(child)
            await child.end()
            return result
        } catch {
            await child.end()
            print("\(error)\n\(child.logTail())")
            throw error
        }
    }

    private init(name: String, processID: pid_t, supervisor: pid_t, lifeline: Int32, state: SharedState) {
        self.name = name
        self.processID = processID
        self.supervisor = supervisor
        self.lifeline = Mutex(lifeline)
        self.state = state
    }

    deinit {
        cutLifeline()
    }

    // MARK: Signals and the end

    /// Sends it a signal. Nothing happens when it has ended.
    public func send(_ signal: Signal) {
        // Under the lock: once the lifeline is cut, the process id may belong to another process.
        lifeline.withLock { lifeline in
            if lifeline != nil { kill(processID, signal.rawValue) }
        }
    }

    /// How it ended, if it did.
    public var exitStatus: ExitStatus? { state.exit.value }

    /// Waits until it ends.
    /// - Parameter deadline: How long to wait.
    /// - Throws: ``TimedOut`` with the end of its log.
    @discardableResult
    public func waitForExit(within deadline: Duration = .patience) async throws -> ExitStatus {
        do {
            return try await state.exit.wait("\(name) (process \(processID)) to end", within: deadline) { $0 }
        } catch let timeout as TimedOut {
            throw TimedOut("\(timeout.description)\n\(logTail())")
        }
    }

    /// Waits until it ends, which must be as expected.
    /// - Parameters:
    ///   - expected: How it must end.
    ///   - deadline: How long to wait.
    /// - Throws: ``TimedOut``, or ``Ended`` when it ended otherwise, with the end of its log.
    public func waitForExit(_ expected: ExitStatus, within deadline: Duration = .patience) async throws {
        let status = try await waitForExit(within: deadline)
        guard status == expected else {
            throw Ended(description: "\(name) should have \(expected), but it \(status)\n\(logTail())")
        }
    }

    /// Kills it and everything it started, and waits until all of that is gone.
    public func end() async {
        cutLifeline()
        // Not cancellable: a cancelled test, too, must not go on before its processes are gone.
        await Task.detached { [state] in
            _ = try? await state.supervisorEnded.wait("the supervisor to end", within: .seconds(60)) { $0 ? true : nil }
        }.value
    }

    private func cutLifeline() {
        lifeline.withLock { lifeline in
            if let descriptor = lifeline { close(descriptor) }
            lifeline = nil
        }
    }

    // MARK: What it says

    /// Waits for a line that contains `text`, also among those it has written already.
    /// - Parameters:
    ///   - text: What the line contains.
    ///   - line: Only lines after this one count.
    ///   - stream: Only lines of this stream count.
    ///   - deadline: How long to wait.
    /// - Returns: The line.
    /// - Throws: ``TimedOut`` or ``Ended`` with the end of its log.
    @discardableResult
    public func waitForLine(
        containing text: String, after line: Line? = nil, on stream: Stream? = nil,
        within deadline: Duration = .patience
    ) async throws -> Line {
        try await waitForLine("a line containing '\(text)'", after: line, on: stream, within: deadline) {
            $0.contains(text)
        }
    }

    /// Waits for a line that `matches`, also among those it has written already.
    /// - Parameters:
    ///   - what: What is waited for; the error says so.
    ///   - line: Only lines after this one count.
    ///   - stream: Only lines of this stream count.
    ///   - deadline: How long to wait.
    ///   - matches: Whether a line is the one.
    /// - Returns: The line.
    /// - Throws: ``TimedOut`` or ``Ended`` with the end of its log.
    @discardableResult
    public func waitForLine(
        _ what: String, after line: Line? = nil, on stream: Stream? = nil, within deadline: Duration = .patience,
        matching matches: @Sendable @escaping (String) -> Bool
    ) async throws -> Line {
        do {
            return try await withDeadline(deadline, "\(what) from \(name)") { [state] in
                try await Self.line(of: state, after: line?.number ?? 0, on: stream, matching: matches)
            }
        } catch let timeout as TimedOut {
            throw TimedOut("\(timeout.description)\n\(logTail())")
        } catch let ended as Ended {
            throw Ended(description: "waited for \(what), but \(ended.description)\n\(logTail())")
        }
    }

    /// All lines that it has written, of one stream or both, as far as they are kept.
    public func lines(on stream: Stream? = nil) -> [String] {
        state.output.withLock { output in
            output.lines.filter { stream == nil || $0.stream == stream }.map(\.text)
        }
    }

    /// The last line that it has written so far; pass it as `after` to wait for what comes next.
    public var lastLine: Line? {
        state.output.withLock { output in output.lines.last.map { Line(number: $0.number, text: $0.text) } }
    }

    /// The end of what it said, for failures.
    /// - Parameter count: How many lines.
    public func logTail(_ count: Int = 40) -> String {
        let lines = state.output.withLock { $0.lines.suffix(count).map(\.text) }
        let status = exitStatus.map { "\($0)" } ?? "running"
        return "--- \(name) (process \(processID), \(status)) said last:\n"
            + lines.map { "    \($0)" }.joined(separator: "\n")
    }

    private static func line(
        of state: SharedState, after number: Int, on stream: Stream?,
        matching matches: @Sendable @escaping (String) -> Bool
    ) async throws -> Line {
        let id = state.output.withLock { $0.makeWaiterID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Line, any Error>) in
                state.output.withLock { output in
                    if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                    output.wait(
                        ChildOutput.Waiter(
                            after: number, stream: stream, matches: matches,
                            resume: { continuation.resume(with: $0) }),
                        as: id)
                }
            }
        } onCancel: {
            state.output.withLock { $0.cancel(id) }
        }
    }

    // MARK: The reading thread

    /// Reads until the process and its supervisor have closed everything.
    private static func read(
        _ output: Int32, _ error: Int32, _ report: Int32, into state: SharedState, called name: String
    ) {
        var sources = [output, error, report].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var reported: [UInt8] = []
        while sources.contains(where: { $0.fd >= 0 }) {
            guard poll(&sources, nfds_t(sources.count), -1) >= 0 || errno == EINTR else { break }
            for (index, source) in sources.enumerated() where source.fd >= 0 && source.revents != 0 {
                let count = Glibc.read(source.fd, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                let isReport = index == 2
                let stream = index == 0 ? Stream.output : .error
                guard count > 0 else {
                    close(source.fd)
                    sources[index].fd = -1
                    if !isReport { state.output.withLock { $0.finish(stream) } }
                    continue
                }
                if isReport {
                    reported += buffer[..<count]
                    take(&reported, into: state, called: name)
                } else {
                    state.output.withLock { $0.append(buffer[..<count], from: stream) }
                }
            }
            // The supervisor stays for the test's sake; the process has said all that it will say.
            if sources[0].fd < 0, sources[1].fd < 0, let status = state.exit.value {
                state.output.withLock { $0.finish(saying: "it has ended (\(status))") }
            }
        }
        for source in sources where source.fd >= 0 { close(source.fd) }
        state.output.withLock { $0.finish(saying: "its supervisor has ended") }
        let how = state.exit.value.map { "it ended: \($0)" } ?? "its supervisor was killed"
        state.started.update { started in
            if started == nil { started = .failure(SpawnFailed(description: "\(name) did not start: \(how)")) }
        }
    }

    /// Takes whole lines of the supervisor's report: a word and a number each.
    private static func take(_ reported: inout [UInt8], into state: SharedState, called name: String) {
        while let end = reported.firstIndex(of: UInt8(ascii: "\n")) {
            let words = String(decoding: reported[..<end], as: UTF8.self).split(separator: " ")
            reported.removeSubrange(...end)
            guard words.count == 2, let number = Int32(words[1]) else { continue }
            switch words[0] {
            case "started": state.started.update { $0 = .success(number) }
            case "failed":
                let reason = String(cString: strerror(number))
                state.started.update { $0 = .failure(SpawnFailed(description: "could not start \(name): \(reason)")) }
            case "exited": state.exit.update { $0 = .exited(Int(number)) }
            case "killed": state.exit.update { $0 = .killed(Signal(rawValue: number)) }
            default: break
            }
        }
    }
}

/// A signal.
public struct Signal: RawRepresentable, Sendable, Hashable {
    /// Its number.
    public let rawValue: Int32

    /// - Parameter rawValue: Its number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Ends it at once; it gets no chance to do anything.
    public static let kill = Signal(rawValue: SIGKILL)
    /// Pauses it until ``resume``.
    public static let stop = Signal(rawValue: SIGSTOP)
    /// Lets it go on after ``stop``.
    public static let resume = Signal(rawValue: SIGCONT)
    /// Asks it to end.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// Asks it to read its files again.
    public static let hangUp = Signal(rawValue: SIGHUP)
    /// What Ctrl-C sends.
    public static let interrupt = Signal(rawValue: SIGINT)
    /// Ends a PostgreSQL server as `pg_ctl stop -m immediate` does.
    public static let quit = Signal(rawValue: SIGQUIT)
}
