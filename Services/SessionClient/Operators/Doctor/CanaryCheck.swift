import Postgres
import QuartetContractSupport
import QuartetVocabulary
import ServiceKit

extension OperatorChecks {
    /// How many partitions a line names.
    private static let named = 3

    /// Whether the alarms of the synthetic persons arrive.
    /// - Parameter interval: How often they are to be missed; nil if never.
    static func canary(_ interval: Interval?) -> Check {
        Check(subject: "canary") { try canary($0, interval) }
    }

    private static func canary(_ database: Database, _ interval: Interval?) throws -> Finding {
        guard let interval else { return .well("canary", "none is wanted: CANARY_INTERVAL is 0s") }
        let canaries = try database.query(
            """
            SELECT c.partition, c.leg, c.service, c.due_at IS NULL AND c.leg IS NULL,
                   c.leg = 'opened' OR c.late > greatest(c.every / 10, interval '5 seconds'),
                   coalesce(floor(extract(epoch FROM c.late))::bigint, 0)
              FROM session_client.canary AS c
             ORDER BY c.late DESC NULLS LAST, c.partition
            """
        ).map { try $0.decode(Int32.self, String?.self, String?.self, Bool.self, Bool?.self, Int64.self) }
        let late = canaries.filter { $0.4 == true }
        if !late.isEmpty {
            let lines = late.prefix(named).map { partition, leg, service, _, _, seconds in
                let leg = leg ?? "unknown"
                let by = service.map { " by \($0)" } ?? ""
                return leg == "opened"
                    ? "that of partition \(partition) isn't opened"
                    : "that of partition \(partition) has waited for \(seconds) s to be \(leg)\(by)"
            }
            let more = late.count > named ? "; and \(late.count - named) more" : ""
            return .wrong(
                "canary",
                "synthetic alarms don't arrive, so people's may not: \(lines.joined(separator: "; "))\(more). "
                    + "See :canary and :lag")
        }
        let resting = canaries.count { $0.3 }
        guard resting == 0 else {
            return .unknown(
                "canary", "\(resting) of \(canaries.count) rest: session-client may have another CANARY_INTERVAL")
        }
        return .well(
            "canary",
            "the synthetic alarm of each of \(canaries.count) partitions arrives, about every \(interval.inWords)")
    }
}
