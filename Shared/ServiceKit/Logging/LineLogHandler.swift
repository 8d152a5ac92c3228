import Foundation
package import Logging

/// Writes each log event as a line.
package struct LineLogHandler: LogHandler {
    /// Added to every line of this logger.
    package var metadata: Logger.Metadata = [:]
    /// Adds the metadata of the current task.
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level

    private let label: String
    private let format: LogFormat
    private let write: @Sendable (String) -> Void

    /// - Parameter write: Takes each line, with its line break.
    package init(
        label: String, format: LogFormat, logLevel: Logger.Level, write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.format = format
        self.logLevel = logLevel
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        let time = Date.now.formatted(Self.time)
        let line =
            switch format {
            case .text: text(event, all, at: time)
            case .json: json(event, all, at: time)
            }
        write(line + "\n")
    }

    private static let time = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    private func text(_ event: LogEvent, _ metadata: Logger.Metadata, at time: String) -> String {
        let level = event.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }
        return "\(time) \(level) \(label): \(Self.onOneLine("\(event.message)"))\(pairs.joined())"
    }

    private func json(_ event: LogEvent, _ metadata: Logger.Metadata, at time: String) -> String {
        var fields: [(String, String)] = [
            ("time", time), ("level", event.level.rawValue), ("logger", label), ("message", "\(event.message)"),
        ]
        let taken = Set(fields.map(\.0))
        // Metadata with the name of one of our fields gets another name.
        fields += metadata.sorted { $0.key < $1.key }.map {
            (taken.contains($0.key) ? "_\($0.key)" : $0.key, "\($0.value)")
        }
        return "{" + fields.map { "\(Self.json($0.0)):\(Self.json($0.1))" }.joined(separator: ",") + "}"
    }

    /// A value, in quotes if it wouldn't be clear where it ends.
    private static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.allSatisfy { !$0.isWhitespace && $0 != "\"" && $0 != "=" && !$0.isNewline }
        return isPlain ? value : json(value)
    }

    private static func onOneLine(_ text: String) -> String {
        text.contains(where: \.isNewline) ? text.split(whereSeparator: \.isNewline).joined(separator: " | ") : text
    }

    private static func json(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..<"\u{20}": result += "\\u" + String(scalar.value + 0x1_0000, radix: 16).dropFirst()
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
