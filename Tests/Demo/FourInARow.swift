import EdgeClient
import Foundation
import Games

extension FourInARow {
    /// The board of a game's state.
    init(_ state: JSON) throws {
        self = try JSONDecoder().decode(Self.self, from: JSONEncoder().encode(state))
    }

    /// Best columns first.
    private static let preference = [3, 2, 4, 1, 5, 0, 6]

    private var other: Mark { turn == players.x ? .o : .x }

    /// Wins if that is possible, keeps the other from winning, gives nothing away, and otherwise stays near the middle.
    var choice: Int? {
        let open = Self.preference.filter { playing($0) != nil }
        return open.first { playing($0)?.winner != nil } ?? open.first { playing(other, in: $0)?.winner != nil }
            ?? open.first { playing($0)?.playing($0)?.winner == nil } ?? open.first
    }

    /// The board as people draw it, a line for each row.
    var picture: [String] {
        let rows = (0..<Self.rows).map { row in
            let discs = (0..<Self.columns).map { self[row, $0].map { $0.rawValue.uppercased() } ?? "·" }
            return "│ " + discs.joined(separator: " ") + " │"
        }
        let line = String(repeating: "─", count: 2 * Self.columns + 1)
        let numbers = "  " + (1...Self.columns).map(String.init).joined(separator: " ")
        return ["┌\(line)┐"] + rows + ["└\(line)┘", numbers]
    }
}

extension JSON {
    /// What a value's JSON is.
    init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(Self.self, from: JSONEncoder().encode(value))
    }
}
