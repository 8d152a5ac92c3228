import Glibc
package import Logging

/// The format of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-03-01T12:00:00.123Z info  contacts: applied 0001-log.sql schema=contacts`.
    case text
    /// For machines: a JSON object per line.
    case json

    /// Makes all loggers of this process write to standard error in this format. Call it once per process.
    package func bootstrap(level: Logger.Level) {
        LoggingSystem.bootstrap { label in
            LineLogHandler(label: label, format: self, logLevel: level) { line in
                // One write per line, so that threads don't mix their lines.
                line.withUTF8Lines { bytes in
                    var rest = bytes
                    while !rest.isEmpty {
                        let written = write(STDERR_FILENO, rest.baseAddress, rest.count)
                        if written < 0 && errno != EINTR { return }
                        rest = UnsafeRawBufferPointer(rebasing: rest[max(0, written)...])
                    }
                }
            }
        }
    }
}

extension String {
    fileprivate func withUTF8Lines(_ body: (UnsafeRawBufferPointer) -> Void) {
        var text = self
        text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension Logger {
    /// For libraries whose information isn't ours: warnings and worse.
    package var quiet: Logger {
        var quiet = self
        quiet.logLevel = max(logLevel, .warning)
        return quiet
    }
}
