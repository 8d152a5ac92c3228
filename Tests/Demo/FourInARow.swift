import EdgeClient

/// Four in a row: seven columns of six places. As the state of a game it has a text for each column, its discs from the
/// bottom, so that a move is a merge patch of one column.
struct FourInARow {
    static let (width, height) = (7, 6)
    private static let names = (0..<width).map { "column\($0)" }
    /// Best columns first.
    private static let preference = [3, 2, 4, 1, 5, 0, 6]

    private var columns = [[Character]](repeating: [], count: width)

    /// An empty board, or that of a game's state.
    init(_ state: JSON = .null) {
        for (number, name) in Self.names.enumerated() { columns[number] = Array(state[name].string ?? "") }
    }

    /// All columns, as members of a game's state.
    var members: [String: JSON] {
        Dictionary(uniqueKeysWithValues: zip(Self.names, columns.map { .string(String($0)) }))
    }

    /// One column, as a member of a merge patch.
    func member(of column: Int) -> (name: String, value: JSON) {
        (Self.names[column], .string(String(columns[column])))
    }

    var isFull: Bool { columns.allSatisfy { $0.count == Self.height } }

    func playing(_ disc: Character, in column: Int) -> Self {
        var next = self
        next.columns[column].append(disc)
        return next
    }

    /// Wins if that is possible, keeps the other from winning, gives nothing away, and otherwise stays near the middle.
    func choice(of disc: Character, against other: Character) -> Int? {
        let open = Self.preference.filter { columns[$0].count < Self.height }
        return open.first { playing(disc, in: $0).isWon(by: disc) }
            ?? open.first { playing(other, in: $0).isWon(by: other) }
            ?? open.first { column in
                let next = playing(disc, in: column)
                return next.columns[column].count == Self.height
                    || !next.playing(other, in: column).isWon(by: other)
            } ?? open.first
    }

    func isWon(by disc: Character) -> Bool {
        for column in 0..<Self.width {
            for row in 0..<Self.height {
                for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let line = (0..<4).map { at(column + $0 * right, row + $0 * up) }
                    if line.allSatisfy({ $0 == disc }) { return true }
                }
            }
        }
        return false
    }

    private func at(_ column: Int, _ row: Int) -> Character? {
        guard columns.indices.contains(column), columns[column].indices.contains(row) else { return nil }
        return columns[column][row]
    }

    /// The board as people draw it, a line for each row.
    var picture: [String] {
        let rows = (0..<Self.height).reversed().map { row in
            "│ " + (0..<Self.width).map { String(at($0, row) ?? "·") }.joined(separator: " ") + " │"
        }
        let line = String(repeating: "─", count: 2 * Self.width + 1)
        let numbers = "  " + (1...Self.width).map(String.init).joined(separator: " ")
        return ["┌\(line)┐"] + rows + ["└\(line)┘", numbers]
    }
}
