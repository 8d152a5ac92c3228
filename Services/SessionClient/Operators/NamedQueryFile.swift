import Foundation
import Postgres
import QuartetAPI
import ServiceKit

/// The queries that `make psql` names, read from the file that psql starts with. So whoever looks at a page for operators sees
/// what psql shows, and its SQL.
struct NamedQueryFile: Sendable {
    private let queries: [String: NamedQuery]
    /// In the order of `:help`.
    let all: [NamedQuery]

    /// The file isn't there, or isn't what it was.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the file beside the executable.
    /// - Throws: ``Unreadable``.
    init() throws {
        let url = ResourceFolder.url("psqlrc", of: "SessionClientService")
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            throw Unreadable(description: "the named queries aren't in \(url.path)")
        }
        try self.init(text)
    }

    /// - Parameter text: Lines such as `\set name 'SELECT …;'`, where a quote is written twice. `help` says of each what it
    ///   answers.
    init(_ text: String) throws {
        var statements: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let match = line.wholeMatch(of: /\\set ([a-z_]+) '((?:SELECT|WITH) .*);'/) else { continue }
            statements[String(match.1)] = String(match.2).replacing("''", with: "'")
        }
        guard let help = statements.removeValue(forKey: "help") else {
            throw Unreadable(description: "psqlrc has no :help")
        }
        all = help.matches(of: /\(\d+, ':([a-z_]+)', '((?:[^']|'')*)'\)/).compactMap { entry in
            statements[String(entry.1)].map { sql in
                var names: [String] = []
                for match in sql.matches(of: Self.parameter) where !names.contains(String(match.1)) {
                    names.append(String(match.1))
                }
                return NamedQuery(
                    name: String(entry.1),
                    // What psql's users set first, others give as a parameter.
                    help: String(String(entry.2).replacing("''", with: "'").prefix { $0 != ";" }), parameters: names,
                    sql: sql)
            }
        }
        guard all.count == statements.count else { throw Unreadable(description: "psqlrc and its :help differ") }
        queries = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    }

    subscript(name: String) -> NamedQuery? { queries[name] }

    /// `:'name'`, which psql replaces by a quoted value, and we by a bound parameter.
    private static var parameter: Regex<(Substring, Substring)> { /:'([a-z]+)'/ }

    /// The statement, as one JSON array of at most `limit` rows. Only the file's text gets into it.
    static func statement(_ query: NamedQuery, _ values: [String: String], limit: Int) -> Query {
        var statement = Query.StringInterpolation(literalCapacity: query.sql.utf8.count, interpolationCount: 4)
        statement.appendLiteral("SELECT coalesce(json_agg(r), '[]') FROM (SELECT q.* FROM (")
        var rest = query.sql[...]
        while let match = rest.firstMatch(of: parameter) {
            statement.appendInterpolation(unescaped: String(rest[..<match.range.lowerBound]))
            statement.appendInterpolation(values[String(match.1)] ?? "")
            rest = rest[match.range.upperBound...]
        }
        statement.appendInterpolation(unescaped: String(rest))
        statement.appendLiteral(") AS q LIMIT ")
        statement.appendInterpolation(Int64(limit))
        statement.appendLiteral(") AS r")
        return Query(stringInterpolation: statement)
    }
}
