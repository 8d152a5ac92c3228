import Foundation

/// The section "Bounds" of ARCHITECTURE.md, held against the sources: every queue, limit and pause of the services, and
/// every loop that asks the database by itself, has a row there with its bound, what happens at it, and the test that holds it.
/// What stands in SQL alone isn't found, and neither is a number whose name and type don't say that it is a bound.
///
/// A row names what it is about as `Type.member`, where the type is the name of the file without what follows a plus.
/// `Type.*` stands for everything in that file, whether or not it is found.
struct Bounds: Sendable {
    /// Something that a row has to name.
    struct Found: Sendable, Hashable {
        /// `Type.member`; for a queue or pause without a name, `Type.queue` or `Type.pause`.
        let name: String
        /// The file and the line.
        let place: String
    }

    /// A row of the table.
    struct Row: Sendable, Hashable {
        let what: String
        let names: [String]
        let tests: [String]
    }

    let found: [Found]
    /// The files' names, without what follows a plus or a dot.
    let types: Set<String>
    let rows: [Row]
    /// The names of all files of tests, without their ending.
    let tests: Set<String>

    /// - Parameters:
    ///   - sources: The services and what they share.
    ///   - document: The text of ARCHITECTURE.md.
    init(sources: [PackageGraph.File], document: String, tests: Set<String>) {
        found = sources.flatMap(Self.found(in:))
        types = Set(sources.map(Self.type(of:)))
        rows = Self.rows(of: document)
        self.tests = tests
    }

    /// What is missing or out of date, a sentence each.
    var violations: [String] {
        let named = Set(rows.flatMap(\.names))
        let existing = Set(found.map(\.name))
        var sentences = found.filter { !named.contains($0.name) && !named.contains("\(Self.type(of: $0.name)).*") }
            .map { "\($0.place): ARCHITECTURE.md has no row in \"Bounds\" that names \($0.name)" }
        if rows.isEmpty { sentences.append("ARCHITECTURE.md has no table in its section \"Bounds\"") }
        for row in rows {
            for name in row.names where !existing.contains(name) {
                if name.hasSuffix(".*"), types.contains(Self.type(of: name)) { continue }
                sentences.append("ARCHITECTURE.md, \"\(row.what)\": there is no \(name)")
            }
            if row.names.isEmpty { sentences.append("ARCHITECTURE.md, \"\(row.what)\": the row names nothing") }
            if row.tests.isEmpty { sentences.append("ARCHITECTURE.md, \"\(row.what)\": the row names no test") }
            for test in row.tests where !tests.contains(test) {
                sentences.append("ARCHITECTURE.md, \"\(row.what)\": there is no test file \(test).swift")
            }
        }
        return sentences
    }

    // MARK: The table

    private static func rows(of document: String) -> [Row] {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        guard let begin = lines.firstIndex(of: "## Bounds") else { return [] }
        return lines[lines.index(after: begin)...].prefix { !$0.hasPrefix("## ") }
            .filter { $0.hasPrefix("| ") }
            .compactMap { line in
                let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                guard cells.count == 7, cells[1] != "what" else { return nil }
                return Row(what: cells[1], names: quoted(cells[4]), tests: quoted(cells[5]))
            }
    }

    /// What stands between backquotes.
    private static func quoted(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }

    // MARK: The sources

    private static func type(of name: String) -> String { String(name.prefix { $0 != "." }) }

    private static func type(of file: PackageGraph.File) -> String {
        String((file.path.split(separator: "/").last ?? "").prefix { $0 != "+" && $0 != "." })
    }

    /// Words that end the name of a bound.
    private static let words = [
        "limit", "limits", "capacity", "pause", "interval", "backoff", "patience", "timeout", "window", "grace",
        "places",
        "budget", "burst", "rest", "deadline", "overlap", "probes", "longest", "horizon", "reserve", "share",
        "concurrency", "piece", "pieceSize", "portion", "batch", "turn", "poll", "most", "least", "lifetime", "lease",
    ]

    /// What only bounds are made of, whatever their names.
    private static let makers = ["Backoff(", "Credit(", "Newest<"]

    /// Calls that wait for a while: a task's, a thread's, a ``Bell``'s and a semaphore's.
    private static let waits = ["sleep(for", "sleep(until", "bell.wait(", "bell.rest(", ".wait(timeout:"]

    private static func found(in file: PackageGraph.File) -> [Found] {
        let type = type(of: file)
        var found: [Found] = []
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let code = line.trimmingCharacters(in: .whitespaces)
            guard !code.hasPrefix("//") else { continue }
            func add(_ member: String) {
                found.append(Found(name: "\(type).\(member)", place: "\(file.path):\(index + 1)"))
            }
            if let member = bound(in: code) { add(member) }
            if code.contains("makeStream("), !code.contains(".bufferingNewest(1)") { add("queue") }
            if waits.contains(where: { code.contains($0) }) { add("pause") }
        }
        return found
    }

    /// The name of a property that a line declares with a number, a time, or a place where numbers are, if it is a bound's.
    private static func bound(in code: String) -> String? {
        let isProperty = [
            "static ", "package ", "public ", "private ", "fileprivate ",
        ].contains { code.hasPrefix($0) }
        guard isProperty, let match = code.firstMatch(of: #/\b(?:let|var) (\w+)(?:: *([^={]*))? *(?:=|\{) *(.+)/#)
        else {
            return nil
        }
        let (member, value) = (String(match.1), match.3)
        if makers.contains(where: { value.contains($0) }) { return member }
        guard value.contains(where: \.isNumber) || value.contains("EdgeLimits.") else { return nil }
        // Spans of the rules are of another type.
        if match.2?.hasPrefix("Duration") == true { return member }
        let ended = words.contains { word in
            member == word || member.hasSuffix(word.prefix(1).uppercased() + word.dropFirst())
        }
        return ended ? member : nil
    }
}

extension Bounds {
    /// The sources, the document and the tests of the package in a folder.
    init(package: URL) throws {
        let folders = ["Services", "Shared/Bus", "Shared/Postgres", "Shared/ServiceKit", "Shared/Webhook"]
        let sources = try folders.flatMap { try PackageGraph.File.below(package.appending(path: $0), named: $0) }
        let tests = try PackageGraph.File.below(package.appending(path: "Tests"), named: "Tests")
            .compactMap { $0.path.split(separator: "/").last?.dropLast(".swift".count) }.map(String.init)
        let document = try String(contentsOf: package.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        self.init(sources: sources, document: document, tests: Set(tests))
    }
}

extension PackageGraph.File {
    /// The Swift files below a folder, in order.
    static func below(_ folder: URL, named name: String) throws -> [Self] {
        guard let paths = FileManager.default.enumerator(atPath: folder.path) else {
            throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: folder.path])
        }
        return try paths.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            Self(
                path: "\(name)/\(path)", text: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
        }
    }
}
