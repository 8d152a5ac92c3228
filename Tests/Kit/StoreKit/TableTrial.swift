import Postgres
package import Storage
package import TestKit
package import Testing

extension Table {
    /// Checks that this table's description is complete, by samples that are inserted into the real table, read, updated with
    /// each other's contents and deleted, as far as the role may.
    ///
    /// Each property of the record has a column of its type, or several that keep it in parts; and it differs from the blank
    /// record's in at least one sample, since what no column keeps comes back as it is in the blank one.
    package func expectRoundTrip(
        of samples: [Entry], in database: TestDatabase, as role: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let types = columns.compactMap { $0.read == nil ? nil : $0.type }
        let properties = leaves(of: blank, downTo: types)
        var (unkept, unknown) = (properties.map { type(of: $0.value) }, types)
        for type in types {
            guard let index = unkept.firstIndex(where: { $0 == type }) else { continue }
            unkept.remove(at: index)
            unknown.removeAll { $0 == type }
        }
        let parts = columns.count { $0.read != nil && $0.type == nil }
        #expect(
            unknown.isEmpty && unkept.count <= parts && unkept.isEmpty == (parts == 0),
            "\(name) keeps nothing of \(unkept)", sourceLocation: location)
        for property in properties {
            let isCovered = samples.contains { sample in
                value(at: property.path, in: sample.row).map { !isSame($0, property.value) } ?? true
            }
            #expect(isCovered, "no sample for \(name) differs in \(property.path)", sourceLocation: location)
        }

        let others = zip(samples, samples.dropFirst() + samples.prefix(1)).map { (key: $0.key, row: $1.row) }
        let connection = try await Connection.connect(Configuration(try database.url(as: role)))
        let (inserted, updated, left) = try await connection.run { database in
            func may(_ privilege: String) throws -> Bool {
                try database.query("SELECT has_table_privilege(\(name), \(privilege))").only?.decode(0, as: Bool.self)
                    ?? false
            }
            func all() throws -> [Key: Record] {
                let rows = try database.query(
                    "SELECT \(unescaped: selection) FROM \(unescaped: name) AS \(unescaped: alias)")
                return Dictionary(try rows.map { try decode($0) }) { first, _ in first }
            }
            func write(_ queue: (Pipeline) throws -> Pending?) throws {
                try database.pipeline { pipeline in
                    let pending = try queue(pipeline)
                    try pipeline.flush()
                    try pending?.check()
                }
            }
            try write { try $0.insert(samples, into: self) }
            let inserted = try all()
            if try may("UPDATE") { try write { try $0.update(others, in: self) } }
            let updated = try may("UPDATE") ? try all() : nil
            if try may("DELETE") { try write { $0.delete(samples.map(\.key), from: self) } }
            return (inserted, updated, try may("DELETE") ? try all() : [:])
        }
        await connection.close()
        func byKey(_ rows: [Entry]) -> [Key: Record] { Dictionary(rows.map { ($0.key, $0.row) }) { first, _ in first } }
        #expect(inserted == byKey(samples), sourceLocation: location)
        #expect(updated ?? byKey(others) == byKey(others), sourceLocation: location)
        #expect(left.isEmpty, sourceLocation: location)
    }
}

/// The properties of a value, and theirs, down to those that are of one of some types.
private func leaves(of value: Any, downTo types: [Any.Type], at path: [String] = []) -> [(path: [String], value: Any)] {
    let children = Mirror(reflecting: value).children
    guard !children.isEmpty, !types.contains(where: { $0 == type(of: value) }) else { return [(path, value)] }
    return children.flatMap { leaves(of: $0.value, downTo: types, at: path + [$0.label ?? ""]) }
}

private func value(at path: [String], in value: Any) -> Any? {
    path.reduce(value) { value, label in
        value.flatMap { value in Mirror(reflecting: value).children.first { $0.label == label }?.value }
    }
}

private func isSame(_ one: Any, _ other: Any) -> Bool {
    func isSame<Value: Equatable>(_ value: Value) -> Bool { value == other as? Value }
    guard let one = one as? any Equatable else { return false }
    return isSame(one)
}
