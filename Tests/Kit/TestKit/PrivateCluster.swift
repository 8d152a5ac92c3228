import Foundation
import Glibc

/// A PostgreSQL of one test, for tests that stop and kill PostgreSQL itself. It is gone, with its data, after the test,
/// however the test ends.
///
/// ```swift
/// try await PrivateCluster.with { postgres in
///     let database = try await TestDatabase.make(.ledger, on: postgres.cluster())
///     try await postgres.crash()
///     try await postgres.start()
/// }
/// ```
public final class PrivateCluster: Sendable {
    private let folder: String
    private let remover: Remover
    private let isDurable: Bool
    private let primary: PrivateCluster?
    private let server = Observed<ChildProcess?>(nil)

    /// Makes a cluster, starts it, runs `body`, and throws it away.
    /// - Parameters:
    ///   - isDurable: Whether it flushes to the disk. A killed server loses nothing without it; the machine would.
    ///   - primary: A running cluster that it copies and follows until it is promoted; a cluster of its own unless given.
    ///   - body: What to do with it.
    public static func with<Result: Sendable>(
        isDurable: Bool = false, standbyOf primary: PrivateCluster? = nil,
        _ body: (PrivateCluster) async throws -> Result
    ) async throws -> Result {
        let cluster = try PrivateCluster(isDurable: isDurable, standbyOf: primary)
        do {
            try await cluster.copyPrimary()
            try await cluster.start()
            let result = try await body(cluster)
            await cluster.remove()
            return result
        } catch {
            print("\(error)\n\(cluster.logTail())")
            await cluster.remove()
            throw error
        }
    }

    private init(isDurable: Bool, standbyOf primary: PrivateCluster?) throws {
        self.isDurable = isDurable
        self.primary = primary
        folder = try makeTemporaryFolder("quartet-test")
        chmod(folder, 0o755)  // the server's user passes through; its data folder is closed
        remover = try Remover("exec \"$0\" destroy \"$1\"", [Products.deploy("postgres.sh").path, folder])
    }

    private func copyPrimary() async throws {
        guard let primary else { return }
        try await ChildProcess.with(
            "/bin/sh", [Products.deploy("postgres.sh").path, "follow", folder, primary.folder]
        ) { try await $0.waitForExit(.exited(0)) }
    }

    /// Makes a standby a server of its own, with a timeline of its own.
    public func promote() async throws {
        try await cluster().psql("SELECT pg_promote()")
    }

    /// Starts it, after a crash or a stop, and waits until it accepts connections.
    public func start() async throws {
        let child = try await ChildProcess.start(
            "/bin/sh", [Products.deploy("postgres.sh").path, "run", folder] + (isDurable ? [] : ["--fast"]),
            name: "postgres")
        server.update { $0 = child }
        try await child.waitForLine(containing: "database system is ready to accept")
    }

    /// Kills the server with -9, and waits until none of its processes is left.
    public func crash() async throws {
        try await end(with: .kill)
    }

    /// Holds all of its processes (SIGSTOP): it accepts connections and answers nothing, until ``thaw()``.
    public func freeze() throws {
        // The postmaster first, so that soon no new ones come.
        var frozen: Set<pid_t> = []
        while true {
            let fresh = try processes().filter { !frozen.contains($0) }
            if fresh.isEmpty { return }
            for process in fresh.sorted() { kill(process, SIGSTOP) }
            frozen.formUnion(fresh)
        }
    }

    /// Has it go on after ``freeze()``.
    public func thaw() throws {
        for process in try processes() { kill(process, SIGCONT) }
    }

    /// They alone work in the folder of its data.
    private func processes() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { process in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == "\(folder)/data"
        }
    }

    /// Stops it.
    /// - Parameter mode: How.
    public func stop(_ mode: StopMode = .fast) async throws {
        try await end(with: mode == .fast ? .interrupt : .quit)
    }

    /// Sends the server's first process a signal: one that is stopped takes no connections, while its sessions go on.
    public func send(_ signal: Signal) {
        server.value?.send(signal)
    }

    /// The ways to stop a server.
    public enum StopMode: Sendable {
        /// Ends all sessions, rolls back, writes everything.
        case fast
        /// Ends everything at once; the next start recovers, as after a crash.
        case immediate
    }

    /// The folder of its socket.
    public func socketFolder() throws -> String {
        try String(contentsOfFile: "\(folder)/socket-path", encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    /// The server, to make databases on. Its connection strings stay the same over restarts.
    public func cluster() throws -> TestCluster {
        TestCluster(superuserURL: "postgresql:///postgres?host=\(try socketFolder())&port=5432&user=postgres")
    }

    /// The server's log so far.
    public func logTail(_ count: Int = 40) -> String {
        server.value?.logTail(count) ?? "the server was never started"
    }

    private func end(with signal: Signal) async throws {
        guard let child = server.value else { return }
        child.send(signal)
        try await child.waitForExit()
        await child.end()
    }

    private func remove() async {
        await server.value?.end()
        await Task.detached { [remover] in remover.remove() }.value
    }
}
