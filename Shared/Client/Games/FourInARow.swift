/// Four in a row: seven columns of six places, two players.
///
/// Its JSON is the state of a group session's game, so that whatever app somebody uses, they play one game. The console has the
/// same rules in `four-in-a-row.js`; a test compares the two.
public struct FourInARow: Hashable, Sendable {
    public static let columns = 7
    public static let rows = 6
    /// The member of the state that says whose turn it is.
    public static let turnField = "turn"

    public enum Mark: Character, CaseIterable, Sendable {
        case x = "x"
        case o = "o"
    }

    public struct Players: Codable, Hashable, Sendable {
        public let x: String
        public let o: String
    }

    /// What a move changes: a merge patch (RFC 7396) of the state.
    public struct Move: Codable, Hashable, Sendable {
        public let cells: String
        public let turn: String
        public let winner: String?
        public let line: [Int]?
    }

    public let players: Players
    /// The player whose turn it is; after the end, whose it would be.
    public private(set) var turn: String
    public private(set) var winner: String?
    /// The places of the winner's four.
    public private(set) var line: [Int] = []
    /// Row by row from the top.
    private var cells = [Mark?](repeating: nil, count: Self.columns * Self.rows)

    /// - Parameters:
    ///   - first: The account that begins.
    ///   - second: The other account.
    public init(first: String, second: String) {
        players = Players(x: first, o: second)
        turn = first
    }

    /// What is in a place; rows are numbered from the top. Nil if it is free, or no place of the board.
    public subscript(row: Int, column: Int) -> Mark? {
        Self.place(row, column).flatMap { cells[$0] }
    }

    public func isInLine(_ row: Int, _ column: Int) -> Bool {
        Self.place(row, column).map { line.contains($0) } ?? false
    }
    public func player(of mark: Mark) -> String { mark == .x ? players.x : players.o }
    public var isFull: Bool { !cells.contains(nil) }
    public var isOver: Bool { winner != nil || isFull }

    /// The game after the one whose turn it is has dropped a disc; nil if that column is full.
    public func playing(_ column: Int) -> Self? { playing(turn == players.x ? .x : .o, in: column) }

    /// The game after a player has dropped a disc; nil if that column is full.
    public func playing(_ mark: Mark, in column: Int) -> Self? {
        guard let row = (0..<Self.rows).last(where: { self[$0, column] == nil }),
            let place = Self.place(row, column)
        else { return nil }
        var next = self
        next.cells[place] = mark
        next.turn = player(of: mark == .x ? .o : .x)
        next.line = next.winningLine
        next.winner = next.line.isEmpty ? nil : player(of: mark)
        return next
    }

    /// What the move that led here changed.
    public var move: Move {
        Move(cells: text, turn: turn, winner: winner, line: line.isEmpty ? nil : line)
    }

    private static func place(_ row: Int, _ column: Int) -> Int? {
        (0..<rows).contains(row) && (0..<columns).contains(column) ? row * columns + column : nil
    }

    private var winningLine: [Int] {
        for row in 0..<Self.rows {
            for column in 0..<Self.columns {
                guard let mark = self[row, column] else { continue }
                for (down, right) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let places = (0..<4).map { (row + $0 * down, column + $0 * right) }
                    guard places.allSatisfy({ self[$0.0, $0.1] == mark }) else { continue }
                    return places.compactMap { Self.place($0.0, $0.1) }
                }
            }
        }
        return []
    }

    private var text: String { String(cells.map { $0?.rawValue ?? "." }) }
}

extension FourInARow: Codable {
    private enum CodingKeys: String, CodingKey {
        case cells, players, turn, winner, line
    }

    /// - Throws: If it isn't a state of this game: apps may play others.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        players = try container.decode(Players.self, forKey: .players)
        turn = try container.decode(String.self, forKey: .turn)
        winner = try container.decodeIfPresent(String.self, forKey: .winner)
        line = try container.decodeIfPresent([Int].self, forKey: .line) ?? []
        let text = try container.decode(String.self, forKey: .cells)
        guard text.count == cells.count, text.allSatisfy({ $0 == "." || Mark(rawValue: $0) != nil }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .cells, in: container, debugDescription: "it must have \(cells.count) letters, each ., x or o")
        }
        cells = text.map(Mark.init(rawValue:))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .cells)
        try container.encode(players, forKey: .players)
        try container.encode(turn, forKey: .turn)
        try container.encodeIfPresent(winner, forKey: .winner)
        if !line.isEmpty { try container.encode(line, forKey: .line) }
    }
}
