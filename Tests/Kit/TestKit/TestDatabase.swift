public import Foundation

/// A database of one test.
///
/// ```swift
/// @Test("an entry is there once") func once() async throws {
///     try await TestDatabase.with(.ledger) { database in
///         let connection = try await Connection.connect(Configuration(database.url(as: "ledger")))
///         …
///     }
/// }
/// ```
public struct TestDatabase: Sendable {
    /// Its name.
    public let name: String
    /// The server that it is on.
    public let cluster: TestCluster

    /// A database that is there already.
    /// - Parameters:
    ///   - name: Its name.
    ///   - cluster: The server that it is on.
    public init(name: String, cluster: TestCluster) {
        self.name = name
        self.cluster = cluster
    }

    /// Makes a database from a template, runs `body`, and drops it, even with connections open.
    /// - Parameters:
    ///   - template: Its contents at the start.
    ///   - cluster: The server; that of the run unless given.
    ///   - body: What to do with it.
    /// - Throws: ``TestCluster/Failure`` when there is no server, or what `body` throws.
    public static func with<Result: Sendable>(
        _ template: DatabaseTemplate, on cluster: TestCluster? = nil, _ body: (TestDatabase) async throws -> Result
    ) async throws -> Result {
        let database = try await make(template, on: cluster)
        do {
            let result = try await body(database)
            try await database.drop()
            return result
        } catch {
            try? await database.drop()
            throw error
        }
    }

    /// Makes a database that the end of the run drops, or the end of its ``PrivateCluster``.
    /// - Parameters:
    ///   - template: Its contents at the start.
    ///   - cluster: The server; that of the run unless given.
    public static func make(_ template: DatabaseTemplate, on cluster: TestCluster? = nil) async throws -> TestDatabase {
        let cluster = try cluster ?? TestCluster.shared()
        let source = try await template.database(on: cluster)
        let database = TestDatabase(name: "\(template.name)_\(unique())", cluster: cluster)
        try await cluster.psql(
            file: Products.package.appending(path: "Tests/Kit/TestKit/clone.sql"),
            variables: ["template": source, "database": database.name, "run": run])
        return database
    }

    /// The superuser's connection string.
    public var url: String {
        get throws { try cluster.url(database: name) }
    }

    /// A role's connection string.
    /// - Parameter role: Such as `ledger`, `quartet_migrator` or `quartet_reader`.
    public func url(as role: String) throws -> String {
        try cluster.url(database: name, role: role)
    }

    /// Runs a file by psql, with variables.
    public func psql(file: URL, variables: [String: String]) async throws -> String {
        try await cluster.psql(file: file, variables: variables, database: name)
    }

    /// Runs SQL by psql as the superuser: see ``TestCluster/psql(_:database:)``.
    @discardableResult
    public func psql(_ sql: String) async throws -> String {
        try await cluster.psql(sql, database: name)
    }

    private func drop() async throws {
        try await cluster.psql("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// The mark in the comments of this run's databases, by which `Tests/run.sh` finds leftovers.
    static let run = ProcessInfo.processInfo.environment["TEST_RUN"] ?? "by hand"

    /// A suffix that no other database has.
    static func unique() -> String {
        String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }
}
