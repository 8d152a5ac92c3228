import Foundation
import Postgres
import QuartetVocabulary
import TestKit
import Testing

extension DatabaseTemplate {
    static let empty = DatabaseTemplate("postgres")
}

/// Runs `body` on a connection to a database of its own.
func withDatabase<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await TestDatabase.with(.empty) { database in
        try await Connection.with(Configuration(try database.url), body)
    }
}

@Suite
struct CodecTests {
    private static func roundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
        _ values: [Value], _ database: Database
    ) throws {
        for value in values {
            let back = try database.query("SELECT \(value)").only?.decode(0, as: Value.self)
            guard back == value else { throw Unexpected("\(value) came back as \(String(describing: back))") }
        }
        let optionals: [Value?] = values.map { $0 } + [nil]
        for value in optionals {
            let back = try database.query("SELECT \(value)").only?.decode(0, as: Value?.self)
            guard back == .some(value) else {
                throw Unexpected("\(String(describing: value)) came back as \(String(describing: back))")
            }
        }
        for array in [values, [], Array(repeating: values[0], count: 3000)] {
            let back = try database.query("SELECT \(array)").only?.decode(0, as: [Value].self)
            guard back == array else {
                throw Unexpected("an array of \(array.count) came back as \(back?.count ?? -1)")
            }
        }
        let back = try database.query("SELECT \(optionals)").only?.decode(0, as: [Value?].self)
        guard back == optionals else { throw Unexpected("\(optionals) came back as \(String(describing: back))") }
    }

    @Test("values of every type, NULLs, and arrays of them come back unchanged")
    func everyType() async throws {
        try await withRandom { random in
            var source = random.fork()
            let integers = (0..<100).map { _ in Int64.random(in: .min ... .max, using: &source) }
            let texts = [
                "", "a", "ü ✓ 🧑‍🧑‍🧒", "'; DROP TABLE x; --", "\\\"{},NULL", String(repeating: "x", count: 100_000),
            ]
            try await withDatabase { database in
                try Self.roundTrip([.min, .max, 0, -1] + integers, database)
                try Self.roundTrip(integers.map { Int32(truncatingIfNeeded: $0) } + [.min, .max], database)
                try Self.roundTrip(integers.map { Int16(truncatingIfNeeded: $0) } + [.min, .max], database)
                try Self.roundTrip(integers.map(Int.init), database)
                try Self.roundTrip([true, false], database)
                try Self.roundTrip(
                    [0, -0.5, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude] as [Double], database)
                try Self.roundTrip(texts, database)
                try Self.roundTrip([AccountID.new(), .new()], database)
                try Self.roundTrip(
                    [0, 1, -1, 1_763_676_000_123_456].map(Instant.init(microseconds:)), database)
                try Self.roundTrip([JSON(Array("{\"a\": [1, 2]}".utf8)), JSON(Array("null".utf8))], database)
                try Self.roundTrip([Bytes([]), Bytes(Array(0...255))], database)
            }
        }
    }

    @Test("PostgreSQL reads the values as Swift does")
    func sameMeaning() async throws {
        try await withDatabase { database in
            let time = Instant(microseconds: 1_000_000_000_123_456)
            let isSame = try database.query(
                """
                SELECT \(time) = '2001-09-09 01:46:40.123456+00', \(Int32(7)) = 7, \("é") = U&'\\00e9',
                       \(AccountID("01234567-89ab-cdef-0123-456789abcdef")) = '01234567-89ab-cdef-0123-456789abcdef',
                       \([1, 2, nil] as [Int32?]) = ARRAY[1, 2, NULL], \(Bytes([1, 255])) = '\\x01ff'
                """
            ).only?.decode(Bool.self, Bool.self, Bool.self, Bool.self, Bool.self, Bool.self)
            let all = try #require(isSame)
            #expect(all == (true, true, true, true, true, true))
        }
    }

    @Test("NULL, a wrong type and a missing column are errors that name the column")
    func wrongTypes() async throws {
        try await withDatabase { database in
            let row = try #require(try database.query("SELECT NULL::int AS gone, 'x' AS name, 70000 AS large").only)
            for (read, column) in [
                ({ _ = try row.decode(0, as: Int32.self) }, "gone"),
                ({ _ = try row.decode(1, as: Int32.self) }, "name"),
                ({ _ = try row.decode(2, as: Int16.self) }, "large"), ({ _ = try row.decode(3, as: Int32.self) }, "3"),
            ] as [(() throws -> Void, String)] {
                do {
                    try read()
                    Issue.record("column \(column) was read")
                } catch PostgresError.decoding(let named, _) {
                    #expect(named == column)
                }
            }
        }
    }

    @Test(
        "a time that PostgreSQL can't hold is an error, never another time",
        arguments: [Int64.min, Int64.min + 1] as [Int64])
    func distantTimes(microseconds: Int64) async throws {
        try await withDatabase { database in
            do {
                _ = try database.query("SELECT \(Instant(microseconds: microseconds))")
                Issue.record("it was taken")
            } catch let error as PostgresError { #expect(error.sqlState == "22008") }
            for infinite in ["infinity", "-infinity"] {
                let row = try #require(try database.query("SELECT \(infinite)::timestamptz").only)
                #expect(throws: PostgresError.self) { try row.decode(0, as: Instant.self) }
            }
        }
    }

    @Test("bytes that aren't an array of the claimed length are an error")
    func wrongArrays() throws {
        func array(_ numbers: [Int32]) -> [UInt8] { numbers.flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) } }
        // Dimensions, a flag for NULLs, the element type, length and lower bound; then each element with its length.
        let (header, whole) = ([1, 0, 23] as [Int32], [1, 0, 23, 1, 1, 4, 7] as [Int32])
        let wrong: [[Int32]] = [
            [], [1], header, header + [-1, 1], header + [.min, 1], header + [.max, 1], header + [1, 1],
            [2] + whole.dropFirst(),
            header + [1, 1, .max, 7], header + [2, 1, 4, 7], header + [1, 1, 3, 7],
        ]
        #expect(try array(whole).withUnsafeBytes { try [Int32](postgres: $0, type: .int4) } == [7])
        for numbers in wrong {
            #expect(throws: DecodingFailure.self, "\(numbers)") {
                try array(numbers).withUnsafeBytes { _ = try [Int32](postgres: $0, type: .int4) }
            }
        }
    }

    @Test("a text with U+0000 is refused by the server, not cut short")
    func zeroByte() async throws {
        try await withDatabase { database in
            do {
                _ = try database.query("SELECT \("a\u{0}b")")
                Issue.record("it was taken")
            } catch let error as PostgresError { #expect(error.sqlState == "22021") }
        }
    }

    @Test("queries nest, with any number of parameters, and interpolated values are never SQL")
    func nesting() async throws {
        try await withDatabase { database in
            let inner: Query = "\(1) + \(2) + \(3) + \(4) + \(5) + \(6) + \(7) + \(8) + \(9) + \(10) + \(11)"
            let row = try database.query("SELECT \(100), (\(inner)), \("it's"), (\(inner)) AS \(identifier: "a \"b\"")")
            #expect(
                try row.only?.decode(Int.self, Int.self, String.self, Int.self) ?? (0, 0, "", 0) == (
                    100, 66, "it's", 66
                ))
            do {
                _ = try row.only?.decode(3, as: String.self)
                Issue.record("a number was read as a text")
            } catch PostgresError.decoding(let column, _) { #expect(column == "a \"b\"") }
        }
    }
}
