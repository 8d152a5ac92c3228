import Postgres
import QuartetSessionRules
import QuartetVocabulary
import Synchronization

// session.zone: when clocks change. All replicas use the data that stand there, not those of their machines.

/// The zones that this process has needed, as the newest version that it has seen leaves them.
final class ZoneCache: Sendable {
    private struct Kept {
        var version = 0
        var zones = ZoneBook()
        /// Names that there are no zones of. Strangers ask for these.
        var absent: Set<String> = []
    }

    private static let mostAbsent = 1000

    private let kept = Mutex(Kept())

    /// Zones by their names, without those that there are none of. Takes a round trip if something isn't known of this version, and another
    /// one if there is a newer one by then.
    /// - Parameter version: Becomes a newer one if there is one by now.
    func zones(_ names: Set<String>, of version: inout ZoneVersion, in pipeline: Pipeline) throws -> ZoneBook {
        guard !names.isEmpty, version.number > 0 else { return ZoneBook() }
        let wanted = version.number
        let (known, unknown) = kept.withLock { kept in
            guard kept.version == wanted else { return (ZoneBook(), names) }
            return (kept.zones.only(names), names.subtracting(kept.zones.names).subtracting(kept.absent))
        }
        guard !unknown.isEmpty else { return known }
        var zones = try fetch(unknown, of: &version, in: pipeline)
        if version.number == wanted {
            zones.merge(known)
        } else if unknown.count < names.count {
            zones = try fetch(names, of: &version, in: pipeline)
        }
        return zones
    }

    private func fetch(
        _ names: Set<String>, of version: inout ZoneVersion, in pipeline: Pipeline
    ) throws -> ZoneBook {
        // The version and the zones of one moment.
        let found = pipeline.query(
            """
            SELECT l.zones, l.zones_since, l.zones_reviewing, z.name, z.version, z.data
              FROM session.limits AS l
              LEFT JOIN session.zone AS z ON z.name = ANY (\(names.sorted()))
             WHERE l.only_row
            """)
        try pipeline.flush()
        var zones = ZoneBook()
        for row in try found.rows() {
            let name: String?
            let edition: Int?
            let data: Bytes?
            (version.number, version.since, version.reviewing, name, edition, data) = try row.decode(
                Int.self, Instant.self, Interval.self, String?.self, Int?.self, Bytes?.self)
            // It was looked at before it was stored.
            if let name, let edition, let data {
                zones.add(try ZoneRules(tzif: data.bytes), name, version: edition)
            }
        }
        let number = version.number
        let absent = names.subtracting(zones.names)
        kept.withLock { kept in
            if kept.version < number { kept = Kept(version: number) }
            guard kept.version == number else { return }
            kept.zones.merge(zones)
            if kept.absent.count + absent.count > Self.mostAbsent { kept.absent = [] }
            if absent.count <= Self.mostAbsent { kept.absent.formUnion(absent) }
        }
        return zones
    }
}
