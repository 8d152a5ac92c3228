import Foundation
import Postgres
import QuartetAPI
import Testing

@testable import SessionClientService

@Suite("Operators' keys and queries")
struct OperatorTests {
    @Test("a key is read as it was written, matches its own hash alone, and nothing else is a key")
    func keys() throws {
        let key = OperatorKey()
        let read = try #require(OperatorKey(key.text))
        #expect(read.id == key.id && read.matches(hash: key.hash) && key.hash.count == 32)
        #expect(!OperatorKey().matches(hash: key.hash) && !key.matches(hash: []) && !key.matches(hash: [0]))
        let parts = key.text.split(separator: ".").map(String.init)
        for wrong in [
            "", "quartet-operator-", parts[0], parts[0] + ".", key.text + "A", String(key.text.dropLast()),
            "x" + key.text,
            key.text + ".", String(parts[0].dropLast()) + ".\(parts[1])",
        ] { #expect(OperatorKey(wrong) == nil, "\(wrong)") }
    }

    @Test("what a named query is given is bound, never pasted into its SQL")
    func parameters() throws {
        let file = try NamedQueryFile(
            #"""
            \set handle ''
            \set one 'SELECT a AS b, ''it''''s'' FROM t WHERE name = :''handle'' OR id = :''id''::uuid OR x = :''handle'';'
            \set two 'WITH a AS (SELECT 1) SELECT * FROM a;'
            \set help 'SELECT q FROM (VALUES (1, '':one'', ''Somebody''''s; first \\set handle <handle>''), (2, '':two'', ''One'')) AS n;'
            """#)
        let one = try #require(file["one"])
        #expect(one.parameters == ["handle", "id"] && one.help == "Somebody's" && file["two"]?.parameters == [])
        #expect(file.all.map(\.name) == ["one", "two"] && file["help"] == nil)
        let hostile = "'; DROP TABLE t; --"
        let statement = NamedQueryFile.statement(one, ["handle": hostile, "id": "$1"], limit: 7)
        #expect(
            statement.sql == """
                SELECT coalesce(json_agg(r), '[]') FROM (SELECT q.* FROM (SELECT a AS b, 'it''s' FROM t \
                WHERE name = $1 OR id = $2::uuid OR x = $3) AS q LIMIT $4) AS r
                """)
    }

    @Test("a query that :help doesn't explain is noticed at the start")
    func unexplained() {
        #expect(throws: NamedQueryFile.Unreadable.self) { try NamedQueryFile("\\set one 'SELECT 1;'") }
        #expect(throws: NamedQueryFile.Unreadable.self) {
            try NamedQueryFile("\\set one 'SELECT 1;'\n\\set help 'SELECT 1;'")
        }
    }
}
