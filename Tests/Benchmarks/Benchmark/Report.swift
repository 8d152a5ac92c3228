import Foundation

/// The figures of a run, in the order in which they were taken.
struct Report {
    private struct Figure {
        let key: String
        let value: Double
        let aim: String
    }

    private var figures: [Figure] = []

    /// - Parameters:
    ///   - key: In snake case, with its unit.
    ///   - aim: What is wanted of it; empty for what is only known.
    mutating func add(_ key: String, _ value: Double, aim: String = "") {
        figures.append(Figure(key: key, value: value, aim: aim))
        say("\(key) \(Self.text(value))")
    }

    subscript(key: String) -> Double? { figures.last { $0.key == key }?.value }

    /// One flat object.
    func write(to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let lines = figures.map { "  \"\($0.key)\": \(Self.text($0.value))" }
        try Data("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8).write(to: file)
    }

    /// For people.
    var table: String {
        let limit = self["limit_insert_8_clients_per_second"]
        var lines = [Self.row("figure", "value", "of limit", "aim")]
        for figure in figures {
            let isRate = figure.key.hasSuffix("commands_per_second") && !figure.key.hasPrefix("limit_")
            let ratio = isRate ? limit.map { String(format: "%.2f", figure.value / $0) } ?? "" : ""
            lines.append(Self.row(figure.key, Self.text(figure.value), ratio, figure.aim))
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ columns: String...) -> String {
        let widths = [52, 14, 10, 0]
        return zip(columns, widths).map { column, width in
            column.padding(toLength: max(width, column.count), withPad: " ", startingAt: 0)
        }.joined(separator: " ").trimmingCharacters(in: .whitespaces)
    }

    private static func text(_ value: Double) -> String {
        if !value.isFinite { return "null" }
        return abs(value) >= 100 ? String(format: "%.0f", value) : String(format: "%.3f", value)
    }
}
