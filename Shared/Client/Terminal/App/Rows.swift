/// Pieces of which screens are made.
enum Rows {
    /// A text in exactly this many cells.
    static func fitted(_ text: String, _ width: Int) -> String {
        var (result, used) = ("", 0)
        let glyphs = Glyph.glyphs(of: text)
        let isTooLong = glyphs.reduce(0) { $0 + $1.width } > width
        for glyph in glyphs {
            guard used + glyph.width <= width - (isTooLong ? 1 : 0) else { break }
            result += glyph.text
            used += glyph.width
        }
        if isTooLong, width > 0 { (result, used) = (result + "…", used + 1) }
        return result + String(repeating: " ", count: max(0, width - used))
    }

    /// A text in rows of at most this many cells, which end between words where they can.
    static func wrapped(_ text: String, _ width: Int) -> [String] {
        guard width > 0 else { return [] }
        var rows: [String] = []
        var (row, used) = ("", 0)
        func end() {
            rows.append(row)
            (row, used) = ("", 0)
        }
        for word in text.split(separator: " ") {
            let glyphs = Glyph.glyphs(of: String(word))
            let needed = glyphs.reduce(0) { $0 + $1.width }
            if used > 0 {
                if used + 1 + needed > width { end() } else { (row, used) = (row + " ", used + 1) }
            }
            for glyph in glyphs {
                if used > 0, used + glyph.width > width { end() }
                (row, used) = (row + glyph.text, used + glyph.width)
            }
        }
        if used > 0 { end() }
        return rows
    }

    /// As much of a text's end as fits.
    static func end(of text: String, width: Int) -> String {
        var (result, used) = ([String](), 0)
        for glyph in Glyph.glyphs(of: text).reversed() {
            guard used + glyph.width <= width else { break }
            result.append(glyph.text)
            used += glyph.width
        }
        return result.reversed().joined()
    }

    /// The part of a list that fits, around one of its rows.
    static func window<Row>(_ rows: [Row], around row: Int, height: Int) -> [Row] {
        guard height > 0 else { return [] }
        let start = max(0, min(row - height / 2, rows.count - height))
        return Array(rows.dropFirst(start).prefix(height))
    }

    /// Which element of a list is selected: the same one, however the list changes around it, or the first.
    static func index<ID: Equatable>(of id: ID?, in ids: [ID]) -> Int { id.flatMap { ids.firstIndex(of: $0) } ?? 0 }

    /// The element that is selected after a key.
    static func moved<ID: Equatable>(_ id: ID?, in ids: [ID], by key: Key) -> ID? {
        let index = index(of: id, in: ids)
        let next =
            switch key {
            case .up, .character("k"): index - 1
            case .down, .character("j"): index + 1
            case .pageUp: index - 10
            case .pageDown: index + 10
            case .home: 0
            case .end: ids.count - 1
            default: index
            }
        return ids.isEmpty ? nil : ids[min(max(0, next), ids.count - 1)]
    }

    static func bar(_ share: Double, width: Int) -> String {
        let filled = Int((min(max(0, share.isNaN ? 0 : share), 1) * Double(width)).rounded())
        return String(repeating: "█", count: filled) + String(repeating: "░", count: max(0, width - filled))
    }
}
