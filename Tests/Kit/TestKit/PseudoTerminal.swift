import Foundation
import Glibc
import Synchronization

/// A program in a terminal of its own, at which a test types and looks.
///
/// ```swift
/// try await PseudoTerminal.with("quartet-tui", ["--server", url]) { terminal in
///     try await terminal.see("Sign in")
///     terminal.type("anna\r")
/// }
/// ```
public final class PseudoTerminal: Sendable {
    /// What keys send.
    public enum Key: String, Sendable {
        case enter = "\r"
        case tab = "\t"
        case escape = "\u{1B}"
        case up = "\u{1B}[A"
        case down = "\u{1B}[B"
        case right = "\u{1B}[C"
        case left = "\u{1B}[D"
        case interrupt = "\u{03}"
        /// The end of input, where the terminal reads lines.
        case endOfInput = "\u{04}"
    }

    public let screen: Observed<TerminalScreen>
    public let process: ChildProcess
    private let ends: Mutex<Ends>

    private struct Ends: Sendable {
        var controlling: Int32
        /// The program's end, held so that its settings can be asked for when the program is gone. Nil after that.
        var program: Int32?
    }

    /// Runs `body` while the program runs, and ends the program.
    /// - Parameters:
    ///   - executable: One of this package.
    ///   - environment: In addition to `PATH`, `HOME` and the like, and to a TERM of `xterm-256color`.
    public static func with<Result: Sendable>(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], width: Int = 80,
        height: Int = 24, _ body: (PseudoTerminal) async throws -> Result
    ) async throws -> Result {
        let terminal = try await PseudoTerminal(
            Products.executable(executable).path, arguments,
            environment: ["TERM": "xterm-256color"].merging(environment) { $1 }, name: executable, width, height)
        do {
            let result = try await body(terminal)
            await terminal.end()
            return result
        } catch {
            await terminal.end()
            print("\(error)\n\(executable) showed last:\(terminal.screen.value)")
            throw error
        }
    }

    private init(
        _ program: String, _ arguments: [String], environment: [String: String], name: String, _ width: Int,
        _ height: Int
    ) async throws {
        let (controlling, end, path) = try openTerminal(width: width, height: height)
        let screen = Observed(TerminalScreen(width: width, height: height))
        self.screen = screen
        ends = Mutex(Ends(controlling: controlling, program: end))
        // In a session of its own that the terminal belongs to, as a shell's programs are.
        do {
            process = try await ChildProcess.start(
                "/bin/sh", ["-c", #"exec setsid --ctty --wait "$@" <"$0" >"$0" 2>&1"#, path, program] + arguments,
                environment: environment, name: name)
        } catch {
            for descriptor in [controlling, end] { close(descriptor) }
            throw error
        }
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(controlling, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                let bytes = Array(buffer[..<count])
                screen.update { $0.take(bytes) }
            }
            close(controlling)
        }
    }

    private func end() async {
        await process.end()
        // The reading thread sees the end when nobody has the program's end any more.
        ends.withLock { ends in
            if let program = ends.program { close(program) }
            ends.program = nil
        }
    }

    // MARK: At the keyboard

    /// Sends what the keys of a text send.
    public func type(_ text: String) {
        ends.withLock { ends in
            guard ends.program != nil else { return }
            let bytes = Array(text.utf8)
            _ = write(ends.controlling, bytes, bytes.count)
        }
    }

    public func press(_ keys: Key...) { for key in keys { type(key.rawValue) } }

    /// Changes the window's size; the program gets SIGWINCH.
    public func resize(width: Int, height: Int) {
        screen.update { $0.resize(width: width, height: height) }
        ends.withLock { ends in
            guard ends.program != nil else { return }
            var size = winsize(ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
            _ = ioctl(ends.controlling, UInt(TIOCSWINSZ), &size)
        }
    }

    // MARK: At the screen

    /// Waits until a row contains a text.
    /// - Returns: The row.
    @discardableResult
    public func see(_ text: String) async throws -> String {
        try await screen.wait("'\(text)' on the screen") { $0.row(with: text) }
    }

    /// Waits until no row contains a text.
    public func seeNo(_ text: String) async throws {
        try await screen.wait("'\(text)' to leave the screen") { $0.contains(text) ? nil : true }
    }

    /// How the terminal treats what is typed.
    public var mode: Mode? {
        ends.withLock { ends in
            var mode = termios()
            guard let program = ends.program, tcgetattr(program, &mode) == 0 else { return nil }
            return Mode(input: mode.c_iflag, output: mode.c_oflag, control: mode.c_cflag, local: mode.c_lflag)
        }
    }

    public struct Mode: Hashable, Sendable {
        let input, output, control, local: tcflag_t

        /// Whether it shows what is typed.
        public var echoes: Bool { local & tcflag_t(ECHO) != 0 }
    }
}
