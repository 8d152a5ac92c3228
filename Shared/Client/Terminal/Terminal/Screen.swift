/// What a terminal shows, cell by cell.
struct Screen: Hashable, Sendable {
    struct Cell: Hashable, Sendable {
        var text = " "
        /// 0 for the right half of a wide character.
        var width = 1
        var isCertain = true
        var style = Style.plain
    }

    let width: Int
    let height: Int
    private(set) var cells: [Cell]

    /// A blank one.
    init(width: Int, height: Int) {
        self.width = max(1, width)
        self.height = max(1, height)
        cells = [Cell](repeating: Cell(), count: self.width * self.height)
    }

    /// Shows lines from the top; what doesn't fit isn't shown.
    init(_ lines: [Line], width: Int, height: Int) {
        self.init(width: width, height: height)
        for (row, line) in lines.prefix(self.height).enumerated() { put(line, row: row) }
    }

    /// The text of its rows, without the spaces at their ends.
    var rows: [String] {
        (0..<height).map { row in
            var text = cells[row * width..<(row + 1) * width].map { $0.width == 0 ? "" : $0.text }.joined()
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    private mutating func put(_ line: Line, row: Int) {
        var column = 0
        let start = row * width
        func style(_ style: Style) -> Style {
            var style = style
            style.isReversed = style.isReversed != line.isSelected
            return style
        }
        for span in line.spans {
            for glyph in Glyph.glyphs(of: span.text) {
                guard column + glyph.width <= width else {
                    // Says that there is more.
                    let last = cells[start + width - 1].width == 0 ? width - 2 : width - 1
                    for column in max(0, last)..<width {
                        cells[start + column] = Cell(text: column == last ? "…" : " ", style: style(span.style))
                    }
                    return
                }
                cells[start + column] = Cell(
                    text: glyph.text, width: glyph.width, isCertain: glyph.isCertain, style: style(span.style))
                if glyph.width == 2 {
                    cells[start + column + 1] = Cell(text: "", width: 0, style: style(span.style))
                }
                column += glyph.width
            }
        }
        guard line.isSelected else { return }
        for column in column..<width { cells[start + column].style.isReversed = true }
    }

    /// What to send to a terminal that shows another screen so that it shows this one: the cells that differ, and nothing if none
    /// does.
    /// - Parameter other: Nil if it isn't known what the terminal shows, or the size has changed.
    func changes(from other: Screen?, hasColor: Bool = true) -> String {
        var output = ""
        let base: Screen
        if let other, other.width == width, other.height == height {
            base = other
        } else {
            base = Screen(width: width, height: height)
            output += "\u{1B}[0m\u{1B}[2J"
        }
        var cursor: Int?
        var style = Style.plain
        for row in 0..<height {
            let places = row * width..<(row + 1) * width
            guard cells[places] != base.cells[places] else { continue }
            // A character whose width terminals disagree on may cover what stands behind it, so its whole row is drawn.
            let isWhole = (cells[places] + base.cells[places]).contains { !$0.isCertain }
            for index in places where cells[index].width > 0 {
                let cell = cells[index]
                let isHalfStale = cell.width == 2 && base.cells[index + 1] != cells[index + 1]
                guard isWhole || cell != base.cells[index] || isHalfStale else { continue }
                if cursor != index { output += "\u{1B}[\(row + 1);\(index - row * width + 1)H" }
                if cell.style != style {
                    output += cell.style.sequence(hasColor: hasColor)
                    style = cell.style
                }
                output += cell.text
                // At the edge nobody knows where the cursor is, either.
                let next = index + cell.width
                cursor = cell.isCertain && next < places.upperBound ? next : nil
            }
        }
        if style != .plain { output += Style.plain.sequence(hasColor: hasColor) }
        return output
    }
}
