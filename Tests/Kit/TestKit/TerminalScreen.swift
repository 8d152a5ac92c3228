import CWidth
import Glibc

/// What a terminal shows after everything that a program has written to it: as much of a VT100 as programs here use.
///
/// What it doesn't know is in ``unknown``, so that a program can't send more than it was meant to.
public struct TerminalScreen: Sendable, CustomStringConvertible {
    private struct Cell: Sendable {
        var text = " "
        var isReversed = false
    }

    public private(set) var width: Int
    public private(set) var height: Int
    /// Whether it shows the screen that programs take as a whole, rather than the one with the shell's lines.
    public private(set) var isAlternate = false
    public private(set) var isCursorVisible = true
    /// How often everything was erased.
    public private(set) var clears = 0
    /// How many control sequences were written.
    public private(set) var sequenceCount = 0
    /// How many bytes were written.
    public private(set) var byteCount = 0
    /// Whether anything was in colour.
    public private(set) var hadColor = false
    /// What a terminal might not understand.
    public private(set) var unknown: [String] = []
    /// The rows that have left it at the top.
    public private(set) var scrolled: [String] = []
    private var cells: [[Cell]]
    private var cursor = (row: 0, column: 0)
    private var isReversed = false
    private var pending: [UInt8] = []

    public init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        cells = Self.blank(width, height)
        _ = Self.knowsWidths
    }

    private static let knowsWidths = setlocale(LC_CTYPE, "C.UTF-8") != nil

    private static func blank(_ width: Int, _ height: Int) -> [[Cell]] {
        [[Cell]](repeating: [Cell](repeating: Cell(), count: width), count: height)
    }

    /// Its rows, without the spaces at their ends.
    public var rows: [String] {
        cells.map { row in
            var text = row.map(\.text).joined()
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    public var description: String { "\n" + rows.map { "  |\($0)\n" }.joined() }

    public func contains(_ text: String) -> Bool { rows.contains { $0.contains(text) } }

    /// The first row that contains a text.
    public func row(with text: String) -> String? { rows.first { $0.contains(text) } }

    /// Whether a row's first cell is reversed: how lists show what is selected.
    public func isSelected(_ text: String) -> Bool {
        rows.firstIndex { $0.contains(text) }.map { cells[$0].first?.isReversed == true } ?? false
    }

    /// As terminals do it: what is cut off is gone, and a program draws what is new.
    public mutating func resize(width: Int, height: Int) {
        cells = (0..<height).map { row in
            (0..<width).map { row < self.height && $0 < self.width ? cells[row][$0] : Cell() }
        }
        (self.width, self.height) = (width, height)
        cursor = (min(cursor.row, height - 1), min(cursor.column, width - 1))
    }

    public mutating func take(_ bytes: some Sequence<UInt8>) {
        let count = pending.count
        pending += bytes
        byteCount += pending.count - count
        var rest = pending[...]
        while let length = step(rest) { rest = rest.dropFirst(length) }
        pending = Array(rest)
    }

    /// Takes one character or sequence; nil if more has to come.
    private mutating func step(_ rest: ArraySlice<UInt8>) -> Int? {
        guard let first = rest.first else { return nil }
        switch first {
        case 0x1B: return sequence(rest)
        case 0x0D: cursor.column = 0
        case 0x0A: lineFeed()
        case 0x08: cursor.column = max(0, cursor.column - 1)
        case 0..<0x20, 0x7F: unknown.append("control \(first)")
        default: return character(rest, first)
        }
        return 1
    }

    private mutating func lineFeed() {
        guard cursor.row == height - 1 else {
            cursor.row += 1
            return
        }
        if let top = rows.first { scrolled.append(top) }
        cells.removeFirst()
        cells.append([Cell](repeating: Cell(), count: width))
    }

    private mutating func character(_ rest: ArraySlice<UInt8>, _ first: UInt8) -> Int? {
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard rest.count >= length else { return nil }
        guard let scalar = String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars.first else {
            unknown.append("byte \(first)")
            return 1
        }
        if (0x80..<0xA0).contains(scalar.value) { unknown.append("control \(scalar.value)") }
        let columns = min(width, Int(width_of_code_point(scalar.value)))
        if columns <= 0 {
            if cursor.column > 0 { cells[cursor.row][cursor.column - 1].text.unicodeScalars.append(scalar) }
            return length
        }
        // No wrapping: the last column is written over.
        let column = min(cursor.column, width - columns)
        cells[cursor.row][column] = Cell(text: String(scalar), isReversed: isReversed)
        if columns == 2 { cells[cursor.row][column + 1] = Cell(text: "", isReversed: isReversed) }
        cursor.column = min(column + columns, width)
        return length
    }

    private mutating func sequence(_ rest: ArraySlice<UInt8>) -> Int? {
        guard rest.count > 2 else { return nil }
        let bytes = Array(rest.prefix(64))
        guard bytes[1] == UInt8(ascii: "["),
            let end = bytes.indices.dropFirst(2).first(where: { (0x40...0x7E).contains(bytes[$0]) })
        else {
            guard bytes[1] == UInt8(ascii: "["), bytes.count < 64 else {
                unknown.append("escape \(bytes[1])")
                return 2
            }
            return nil
        }
        let parameters = String(decoding: bytes[2..<end], as: UTF8.self)
        take(Character(Unicode.Scalar(bytes[end])), parameters)
        return end + 1
    }

    private mutating func take(_ letter: Character, _ parameters: String) {
        sequenceCount += 1
        let numbers = parameters.split(separator: ";").compactMap { Int($0) }
        switch (letter, parameters) {
        case ("H", _):
            let (row, column) = (numbers.first ?? 1, numbers.dropFirst().first ?? 1)
            guard (1...height).contains(row), (1...width).contains(column) else {
                return unknown.append("position \(parameters)")
            }
            cursor = (row - 1, column - 1)
        case ("J", "2"):
            clears += 1
            cells = Self.blank(width, height)
        case ("m", _):
            for number in numbers {
                if number == 0 || number == 7 { isReversed = number == 7 }
                if (30...49).contains(number) { hadColor = true }
            }
        case ("h", "?1049"): (isAlternate, cells) = (true, Self.blank(width, height))
        case ("l", "?1049"): (isAlternate, cells) = (false, Self.blank(width, height))
        case ("h", "?25"): isCursorVisible = true
        case ("l", "?25"): isCursorVisible = false
        case ("h", "?7"), ("l", "?7"), ("h", "?2004"), ("l", "?2004"): break
        default: unknown.append("\(parameters)\(letter)")
        }
    }
}
