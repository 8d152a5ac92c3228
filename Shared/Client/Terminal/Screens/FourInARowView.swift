import Foundation
import Games
import QuartetClient

/// The board.
enum FourInARowView {
    static let middle = FourInARow.columns / 2

    static func lines(_ group: ReadOnlyGroupState, _ shown: Shown, column: Int) -> [Line] {
        guard let game = group.game else { return ["No game yet. Two take a seat (s), and the host starts (g)."] }
        guard let board = FourInARow(game) else {
            return ["Another game is played here; this app only shows four in a row."]
        }
        let isMine = group.isMyTurn && !board.isOver
        let pointer = String(repeating: "  ", count: max(0, column)) + "▼"
        let edge = String(repeating: "─", count: 2 * FourInARow.columns + 1)
        let cell: (Int, Int) -> [Span] = { row, column in
            var span = board[row, column].map(disc) ?? Span("·", .dim)
            span.style.isReversed = board.isInLine(row, column)
            return [span, " "]
        }
        var lines: [Line] = []
        lines.append(Line("   \(title(group, game, board, shown))", .bold))
        lines.append(Line(isMine ? "     \(pointer)" : "", .colored(.cyan)))
        lines.append(Line("   ┌\(edge)┐"))
        for row in 0..<FourInARow.rows {
            let discs = (0..<FourInARow.columns).flatMap { cell(row, $0) }
            lines.append(Line([Span("   │ ")] + discs + [Span("│")]))
        }
        lines.append(Line("   └\(edge)┘"))
        lines.append(.empty)
        lines.append(player(.x, board, shown))
        lines.append(player(.o, board, shown))
        return lines
    }

    private static func player(_ mark: FourInARow.Mark, _ board: FourInARow, _ shown: Shown) -> Line {
        Line([Span("   "), disc(mark), Span(" \(shown.name(of: AccountID(board.player(of: mark))))")])
    }

    private static func disc(_ mark: FourInARow.Mark) -> Span {
        mark == .x ? Span("X", Style(color: .red, isBold: true)) : Span("O", Style(color: .yellow, isBold: true))
    }

    private static func title(_ group: ReadOnlyGroupState, _ game: Game, _ board: FourInARow, _ shown: Shown) -> String
    {
        if let winner = board.winner {
            let account = AccountID(winner)
            return account == shown.me ? "You won!" : "\(shown.name(of: account)) won"
        }
        if board.isFull || game.finished != nil { return "Nobody won" }
        return group.isMyTurn ? "Your turn" : "\(shown.name(of: game.turn)) to move"
    }
}

extension FourInARow {
    /// Nil if it is another game: apps may play whatever they like.
    init?(_ game: Game) {
        guard let state = try? JSONEncoder().encode(game.state),
            let board = try? JSONDecoder().decode(Self.self, from: state)
        else { return nil }
        self = board
    }
}

extension JSONValue {
    /// What a value's JSON is.
    init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(Self.self, from: JSONEncoder().encode(value))
    }
}
