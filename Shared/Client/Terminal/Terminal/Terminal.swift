import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The terminal that the app runs in: its mode, its size, and what is written to it.
final class Terminal: Sendable {
    /// What a terminal can do.
    struct Abilities: Hashable, Sendable {
        /// Whether it has a cursor that can be moved. Without one, rows are printed as lines.
        var isDumb: Bool
        /// See no-color.org.
        var hasColor: Bool

        init(environment: [String: String]) {
            isDumb = environment["TERM"].map { $0.isEmpty || $0 == "dumb" } ?? true
            hasColor = environment["NO_COLOR"].map(\.isEmpty) ?? true
        }
    }

    struct NoTerminal: Error, CustomStringConvertible {
        let description = "it needs a terminal for its input and output"
    }

    let abilities: Abilities
    private let original: termios

    /// - Throws: ``NoTerminal`` if the standard input or output is something else.
    init(_ abilities: Abilities) throws {
        var mode = termios()
        guard isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &mode) == 0 else { throw NoTerminal() }
        self.abilities = abilities
        original = mode
    }

    /// None, for what never draws.
    init() { (abilities, original) = (Abilities(environment: [:]), termios()) }

    /// In cells; 80 by 24 if it doesn't say.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Takes keys as they are pressed, and the whole screen, whose old content comes back later.
    func enter() {
        guard !abilities.isDumb else { return }
        var mode = original
        cfmakeraw(&mode)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
        // The alternate screen, no cursor, no wrapping at the edge, and pasted text marked as such.
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h")
    }

    /// Leaves the terminal as it was found.
    func leave() {
        if !abilities.isDumb { write("\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }
        var mode = original
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// Whether what is typed shows, where the terminal itself shows it.
    func show(typing isShown: Bool) {
        guard abilities.isDumb else { return }
        var mode = original
        if !isShown { mode.c_lflag &= ~tcflag_t(ECHO) }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// Writes it at once: a frame is one write.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = systemWrite(STDOUT_FILENO, rest.baseAddress, rest.count)
                if count < 0 {
                    guard errno == EINTR || errno == EAGAIN else { return }
                    if errno == EAGAIN {
                        var wanted = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                        _ = poll(&wanted, 1, -1)
                    }
                    continue
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
        Glibc.write(descriptor, bytes, count)
    #elseif canImport(Musl)
        Musl.write(descriptor, bytes, count)
    #else
        Darwin.write(descriptor, bytes, count)
    #endif
}
