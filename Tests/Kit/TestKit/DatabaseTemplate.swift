public import Foundation
import Synchronization

/// The contents of a test's database at its start. Built once per run, then copied for each test, which takes
/// hundredths of a second.
///
/// Keep it in a `static let`; two templates with one name and different contents make the server's log confusing.
///
/// ```swift
/// static let ledger = DatabaseTemplate("ledger", services: [.init("ledger", readers: ["ledger_client"])]) { database in
///     try await Migrator(…).apply()
/// }
/// ```
public final class DatabaseTemplate: Sendable {
    /// A service whose roles and schema the database has, as `deploy/service.sql` makes them.
    public struct Service: Sendable {
        /// The name of the service, of its role and of its schema.
        public var name: String
        /// The roles that may look into its schema.
        public var readers: [String]

        /// - Parameters:
        ///   - name: The name of the service, of its role and of its schema.
        ///   - readers: The roles that may look into its schema.
        public init(_ name: String, readers: [String] = []) {
            self.name = name
            self.readers = readers
        }
    }

    /// The product's four services, with the law of who may look where.
    public static let productServices: [Service] = [
        Service("session", readers: ["session_client", "session_client_owner"]),
        Service("contacts", readers: ["session_client", "session_client_owner"]),
        Service("notifications", readers: ["session_client", "session_client_owner"]),
        Service(
            "session_client",
            readers: [
                "session", "contacts", "notifications", "session_owner", "contacts_owner", "notifications_owner",
            ]),
    ]

    /// What it is called in database names.
    public let name: String
    private let services: [Service]
    private let dump: URL?
    private let prepare: @Sendable (TestDatabase) async throws -> Void
    /// One build per server, shared by the tests that wait for it.
    private let builds = Mutex<[String: Task<String, any Error>]>([:])
    /// Roles belong to the whole server; two sessions that change one at a time get an error.
    private static let roles = AsyncLock()

    /// - Parameters:
    ///   - name: What it is called in database names: lower case, digits, underscores.
    ///   - services: The services whose roles and schemas it has.
    ///   - dump: A script of pg_dump that makes their schemas; without it they are empty.
    ///   - prepare: What else is done to it, such as applying migrations.
    public init(
        _ name: String, services: [Service] = [], dump: URL? = nil,
        prepare: @Sendable @escaping (TestDatabase) async throws -> Void = { _ in }
    ) {
        self.name = name
        self.services = services
        self.dump = dump
        self.prepare = prepare
    }

    /// The name of the template's database on `cluster`, built if it isn't there yet.
    func database(on cluster: TestCluster) async throws -> String {
        let build = builds.withLock { builds in
            if let build = builds[cluster.superuserURL] { return build }
            let build = Task { try await self.build(on: cluster) }
            builds[cluster.superuserURL] = build
            return build
        }
        return try await build.value
    }

    private func build(on cluster: TestCluster) async throws -> String {
        let database = TestDatabase(name: "\(name)_template_\(TestDatabase.unique())", cluster: cluster)
        try await cluster.psql("CREATE DATABASE \(database.name) TEMPLATE template0 ENCODING 'UTF8'")
        try await cluster.psql("COMMENT ON DATABASE \(database.name) IS 'Quartet test run \(TestDatabase.run)'")
        try await Self.roles.withLock {
            try await self.bootstrap(database)
            // The roles that it names are there by now.
            guard let dump = self.dump else { return }
            for service in self.services { try await database.psql("DROP SCHEMA \(service.name) CASCADE") }
            _ = try await database.psql(file: dump, variables: [:])
            try await self.bootstrap(database)
        }
        for service in services where !service.readers.isEmpty {
            try await cluster.psql(
                "GRANT USAGE ON SCHEMA \(service.name) TO \(service.readers.joined(separator: ", "))",
                database: database.name)
        }
        try await prepare(database)
        // Copying needs a template that nobody is connected to.
        try await cluster.psql("ALTER DATABASE \(database.name) ALLOW_CONNECTIONS false IS_TEMPLATE true")
        return database.name
    }

    private func bootstrap(_ database: TestDatabase) async throws {
        _ = try await database.psql(file: Products.deploy("database.sql"), variables: [:])
        for service in services {
            _ = try await database.psql(file: Products.deploy("service.sql"), variables: ["service": service.name])
        }
    }
}

/// One task at a time, also across suspensions.
private actor AsyncLock {
    private var last: Task<Void, Never>?

    func withLock(_ body: @Sendable @escaping () async throws -> Void) async throws {
        let previous = last
        let work = Task {
            await previous?.value
            return await Result { try await body() }
        }
        last = Task { _ = await work.value }
        try await work.value.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
