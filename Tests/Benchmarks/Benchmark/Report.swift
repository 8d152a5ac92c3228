import Foundation

/// The figures of a run, in the order in which they were taken.
struct Report {
    private struct Figure {
        let key: String
        let value: Double
        let aim: String
        let limit: String?
    }

    private var figures: [Figure] = []

    /// - Parameters:
    ///   - key: In snake case, with its unit.
    ///   - aim: What is wanted of it; empty for what is only known.
    ///   - limit: The key of what this machine can do at most.
    mutating func add(_ key: String, _ value: Double, aim: String = "", of limit: String? = nil) {
        figures.append(Figure(key: key, value: value, aim: aim, limit: limit))
        say("\(key) \(FigureTable.number(value))")
    }

    subscript(key: String) -> Double? { figures.last { $0.key == key }?.value }

    /// Every figure that could be measured.
    var values: [(key: String, value: Double)] { figures.filter(\.value.isFinite).map { ($0.key, $0.value) } }

    /// One flat object.
    func write(to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let lines = figures.map { "  \"\($0.key)\": \(FigureTable.number($0.value))" }
        try Data("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8).write(to: file)
    }

    /// For people.
    /// - Parameter last: The figures of earlier runs.
    func table(beside last: [String: Double]) -> String {
        var table = FigureTable("figure", "value", "of limit", "of last", "aim")
        for figure in figures {
            table.add(
                figure.key, FigureTable.number(figure.value),
                FigureTable.ratio(figure.value, to: figure.limit.flatMap { self[$0] }),
                FigureTable.ratio(figure.value, to: last[figure.key]), figure.aim)
        }
        return table.text
    }
}
