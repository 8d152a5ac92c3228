import Foundation

/// Figures in columns, for people.
struct FigureTable {
    private var rows: [[String]]

    /// - Parameter columns: What stands above each.
    init(_ columns: String...) { rows = [columns] }

    mutating func add(_ columns: String...) { rows.append(columns) }

    var text: String {
        let widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
                .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
    }

    static func number(_ value: Double) -> String {
        if !value.isFinite { return "null" }
        return abs(value) >= 100 ? String(format: "%.0f", value) : String(format: "%.3f", value)
    }

    /// Empty for what can't be compared.
    static func ratio(_ value: Double, to other: Double?) -> String {
        guard let other, other != 0, value.isFinite else { return "" }
        return String(format: "%.2f", value / other)
    }
}
