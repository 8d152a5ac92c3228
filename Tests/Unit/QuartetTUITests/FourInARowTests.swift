import Foundation
import Games
import Testing

@Suite("Four in a row")
struct FourInARowTests {
    private func playing(_ columns: [Int]) -> FourInARow? {
        columns.reduce(FourInARow(first: "anna", second: "bob")) { $0?.playing($1) }
    }

    @Test(
        "the first four in a row win: across, down and on both diagonals",
        arguments: [
            ([0, 1, 0, 1, 0, 1, 0], "anna"), ([6, 0, 1, 0, 2, 0, 6, 0], "bob"),
            ([0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], "anna"), ([6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3], "anna"),
            ([0, 0, 1, 1, 2, 2, 3], "anna"),
        ])
    func wins(columns: [Int], winner: String) throws {
        let game = try #require(playing(columns))
        #expect(game.winner == winner && game.isOver && game.move.line?.count == 4)
        #expect(playing(columns.dropLast())?.winner == nil)
    }

    @Test("turns alternate, a full column takes no disc, and there is no column outside")
    func rules() throws {
        let game = try #require(playing([0, 0, 0, 0, 0, 0]))
        #expect(game.turn == "anna" && game.playing(0) == nil && game.playing(7) == nil && game.playing(-1) == nil)
        #expect(game.playing(1)?.turn == "bob" && game[0, 0] == .o && game[5, 0] == .x && game[6, 0] == nil)
    }

    @Test("a state comes back as it was, and what isn't one is refused")
    func json() throws {
        let game = try #require(playing([6, 0, 1, 0, 2, 0, 6, 0]))
        let encoded = try JSONEncoder().encode(game)
        #expect(try JSONDecoder().decode(FourInARow.self, from: encoded) == game)
        let cells = String(repeating: ".", count: 42)
        for text in [
            "{}", "7", #"{"cells":".","players":{"x":"a","o":"b"},"turn":"a"}"#, #"{"cells":"\#(cells)","turn":"a"}"#,
            #"{"cells":"\#(cells.dropLast())!","players":{"x":"a","o":"b"},"turn":"a"}"#,
        ] {
            #expect(throws: (any Error).self) { try JSONDecoder().decode(FourInARow.self, from: Data(text.utf8)) }
        }
        // Places that no board has are nowhere.
        let odd = #"{"cells":"\#(cells)","players":{"x":"a","o":"b"},"turn":"a","line":[-1,99]}"#
        #expect(try JSONDecoder().decode(FourInARow.self, from: Data(odd.utf8)).isInLine(0, 0) == false)
    }
}
