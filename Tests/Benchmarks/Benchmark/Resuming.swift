import EdgeClient
import Foundation

/// Whether coming back to a stream costs more where there is more history. Apps ask for their stream one at a time, with an id that
/// is the newest, a little behind, or too old to resume from, beside a small log and beside a full one.
extension ProductBenchmark {
    private static var people: Int { 50 }
    /// How often each of them comes back with each id.
    private static var rounds: Int { 8 }
    /// Partitions of the log.
    private static var partitions: Int { 8 }

    /// How a stream begins.
    private enum Beginning {
        case resumed
        case refetched
        case new
    }

    func resuming(_ rows: Int, _ report: inout Report) async throws {
        // With its index and its WAL, a row takes about half as much.
        try server.requireDisk(Int64(rows) * 700)
        say("\(Self.people) people whose apps come back")
        let oldest = try await ids(of: try crowd(Self.people, contacts: 2))
        try append(5000)
        let small = try await paces(oldest)
        try await renewEdge(after: {
            try fill(rows)
            try server.psql("quartet", ["-c", "VACUUM ANALYZE notifications.log"])
        })
        let full = try await paces(oldest)
        for (small, full) in zip(small, full) {
            report.add("resume_\(small.name)_p50_ms_small_log", small.milliseconds)
            report.add("resume_\(full.name)_p50_ms_full_log", full.milliseconds)
            report.add("resume_\(full.name)_added_ms", full.milliseconds - small.milliseconds, aim: "<= 5")
        }
        try await panels(&report)
        // It takes gigabytes, and what is measured next doesn't need it.
        try server.psql("quartet", ["-c", "TRUNCATE notifications.log"])
    }

    private func paces(_ oldest: [String]) async throws -> [(name: String, milliseconds: Double)] {
        let devices = try Crowd(Self.people).devices(signedBy: signingKey, at: edge)
        let behind = try await ids(of: devices)
        try append(900)
        // The edge reads them within a second, and then has nothing else to do.
        try await Task.sleep(for: .seconds(2))
        let newest = try await ids(of: devices)
        return [
            ("newest", try await pace(devices, newest, .resumed)),
            ("behind", try await pace(devices, behind, .resumed)),
            ("too_old", try await pace(devices, oldest, .refetched)),
        ]
    }

    private func pace(_ devices: [Device], _ ids: [String], _ expected: Beginning) async throws -> Double {
        var waits: [Double] = []
        for _ in 0..<Self.rounds {
            for (device, id) in zip(devices, ids) {
                let begun = ContinuousClock.now
                let (beginning, _) = try await begin(device, after: id)
                waits.append((ContinuousClock.now - begun).milliseconds)
                guard beginning == expected else { throw Failure("with \(id), a stream was \(beginning)") }
            }
        }
        return waits.sorted().percentile(0.5)
    }

    private func ids(of devices: [Device]) async throws -> [String] {
        var ids: [String] = []
        for device in devices { ids.append(try await begin(device, after: nil).id) }
        return ids
    }

    /// Opens a stream, and leaves it when all its sequences have begun.
    /// - Returns: How that of the notifications did, and where it was then.
    private func begin(_ device: Device, after place: String?) async throws -> (Beginning, id: String) {
        // A resumed stream doesn't repeat its place.
        var (begun, last, beginning) = (0, place, Beginning.new)
        for try await event in try await edge.stream(token: device.token, after: place) {
            last = event.id ?? last
            guard event.name.hasSuffix(".snapshot") || event.name.hasSuffix(".resumed") else { continue }
            if event.name.hasPrefix("notifications.") {
                let isRefetched = event.data["refetched"] == true
                beginning = event.name.hasSuffix(".resumed") ? .resumed : isRefetched ? .refetched : .new
            }
            begun += 1
            if begun == 4, let last { return (beginning, last) }
        }
        throw Failure("a stream ended before it had begun")
    }

    // MARK: History

    private func fill(_ rows: Int) throws {
        let (each, piece) = (rows / Self.partitions, 250_000)
        for begin in stride(from: 0, to: each, by: piece) {
            say("filling: \(begin * 100 / each)%")
            try append(min(piece, each - begin))
        }
    }

    /// Appends so many events of others to each partition.
    private func append(_ count: Int) throws {
        for partition in 0..<Self.partitions {
            try server.psql(
                "quartet",
                [
                    "-c", "SET session_replication_role = replica", "-c",
                    """
                    SELECT FROM notifications.log_partition WHERE partition = \(partition) FOR NO KEY UPDATE;
                    INSERT INTO notifications.log (partition, position, kind, type, version, key, account, body, message_id)
                    SELECT \(partition), newest.position + made.number, 'event', 'NotificationRead', 1, 'account/' || made.id,
                           made.id, '{}', made.id
                      FROM (SELECT coalesce(max(position), 0) AS position
                              FROM notifications.log WHERE partition = \(partition)) AS newest,
                           (SELECT number, gen_random_uuid() AS id FROM generate_series(1, \(count)) AS number) AS made
                    """,
                ])
        }
    }
}
