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
