import Foundation

/// Two builds that were measured in turn, so that a slow minute of the machine hits both.
struct Comparison {
    private typealias Figures = [String: Double?]

    private let rounds: [(base: Figures, this: Figures)]

    /// - Parameter folder: What each wrote, as `base-1.json` and `this-1.json` for the first round.
    init(folder: URL) throws {
        func figures(_ name: String) throws -> Figures? {
            let file = folder.appending(path: name)
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            return try JSONDecoder().decode(Figures.self, from: Data(contentsOf: file))
        }
        var rounds: [(base: Figures, this: Figures)] = []
        while let base = try figures("base-\(rounds.count + 1).json"),
            let this = try figures("this-\(rounds.count + 1).json")
        {
            rounds.append((base, this))
        }
        self.rounds = rounds
    }

    /// The medians of what both builds measured, the ratios of single rounds from the lowest to the highest, and how far the base's
    /// own rounds are from each other, as a part of their median: a smaller difference between the builds says nothing.
    var table: String {
        var table = FigureTable("figure", "base", "this", "ratio", "of single rounds", "base's own spread")
        let keys = Set(rounds.flatMap { $0.base.keys }).intersection(rounds.flatMap { $0.this.keys })
        for key in keys.sorted() {
            let pairs = rounds.compactMap { round -> (base: Double, this: Double)? in
                guard let base = round.base[key] ?? nil, let this = round.this[key] ?? nil else { return nil }
                return (base, this)
            }
            guard !pairs.isEmpty else { continue }
            let (base, this) = (Self.median(pairs.map(\.base)), Self.median(pairs.map(\.this)))
            let ratios = pairs.filter { $0.base != 0 }.map { $0.this / $0.base }.sorted()
            let range = [ratios.first, ratios.last].compactMap { $0.map { FigureTable.ratio($0, to: 1) } }
            let bases = pairs.map(\.base)
            let spread = (bases.max() ?? base) - (bases.min() ?? base)
            table.add(
                key, FigureTable.number(base), FigureTable.number(this), FigureTable.ratio(this, to: base),
                range.joined(separator: " to "), FigureTable.ratio(spread, to: base))
        }
        return table.text
    }

    /// The middle value; between two, their mean.
    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
