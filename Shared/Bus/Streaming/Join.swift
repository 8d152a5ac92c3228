import Postgres
import QuartetVocabulary

/// A stream to join.
struct JoinRequest: Sendable {
    let key: Key
    /// The position to resume after; nil for the state.
    let after: Position?
}

/// A stream as it was at one moment.
struct JoinedStream: Sendable {
    /// The newest position of the stream's partition.
    var position: Position = .start
    /// Nil if the stream resumes and no state was requested.
    var state: [UInt8]?
    /// What came after the requested position; nil if the stream can't resume there.
    var events: [RecordedMessage]?
}

extension Log {
    /// Reads the positions, states and missed events of these streams in one statement. With two, a commit in between
    /// would be lost or doubled.
    /// - Parameters:
    ///   - state: A scalar expression of type json for the state of `stream.key`, whose account is `stream.account`.
    ///   - withStates: Whether to read the states of resumed streams, too.
    ///   - limits: A stream that is further behind than these allow gets a snapshot; and so does an account's that has missed an
    ///     event that is empty by now.
    func join(
        _ requests: [JoinRequest], state: Query, withStates: Bool, limits: StreamReader.Settings, _ database: Database
    ) throws -> [JoinedStream] {
        var joined = [JoinedStream](repeating: JoinedStream(), count: requests.count)
        var overfull: [Int] = []
        for row in try database.query(statement(requests, state: state, withStates: withStates, limits: limits)) {
            let number = Int(try row.decode(0, as: Int64.self)) - 1
            guard joined.indices.contains(number) else { continue }
            guard let isTooMuch = try row.decode(4, as: Bool?.self) else {
                joined[number].position = Position(try row.decode(1, as: Int64.self))
                joined[number].events = try row.decode(2, as: Bool.self) ? [] : nil
                joined[number].state = row.bytes(3) { $0.map { [UInt8]($0) } }
                continue
            }
            if isTooMuch {
                if overfull.last != number { overfull.append(number) }
            } else {
                joined[number].events?.append(try RecordedMessage(row, from: 5, of: name))
            }
        }
        guard !overfull.isEmpty else { return joined }
        let snapshots = try join(
            overfull.map { JoinRequest(key: requests[$0].key, after: nil) }, state: state, withStates: true,
            limits: limits, database)
        for (number, snapshot) in zip(overfull, snapshots) { joined[number] = snapshot }
        return joined
    }

    /// Returns a row for each stream with its state, then a row for each event, all from one snapshot.
    private func statement(
        _ requests: [JoinRequest], state: Query, withStates: Bool, limits: StreamReader.Settings
    ) -> Query {
        let streams: Query = """
            WITH stream AS MATERIALIZED (
                SELECT stream.*, place.*,
                       coalesce(stream.after BETWEEN greatest(place.base, place.position - \(Int64(limits.resumeLimit)))
                                    AND place.position, false) AS goes_on
                  FROM unnest(\(requests.map(\.key.description)), \(requests.map(\.key.account)),
                              \(requests.map { partition(of: $0.key).number }), \(requests.map { $0.after?.number }))
                       WITH ORDINALITY AS stream(key, account, partition, after, number)
                 CROSS JOIN LATERAL (
                       SELECT p.base_position AS base, \(unescaped: newestPosition("p")) AS position
                         FROM \(unescaped: "\(name)_partition") AS p WHERE p.partition = stream.partition) AS place)
            SELECT stream.number, stream.position, stream.goes_on,
                   CASE WHEN stream.goes_on AND NOT \(withStates) THEN NULL ELSE (\(state))::json END, NULL::boolean,
                   \(unescaped: [String](repeating: "NULL", count: Self.columns.count).joined(separator: ", "))
              FROM stream
            """
        guard requests.contains(where: { $0.after != nil }) else { return streams }
        let columns = Self.columns.map { $0 == "body" ? "CASE WHEN NOT l.is_too_much THEN l.body END" : "l.\($0)" }
        return """
            \(streams)
             UNION ALL
            SELECT stream.number, NULL, NULL, NULL, l.is_too_much, \(unescaped: columns.joined(separator: ", "))
              FROM stream
             CROSS JOIN LATERAL (
                   SELECT e.*, sum(octet_length(e.body::text)) OVER (ORDER BY e.position)
                                   > \(Int64(limits.resumeByteLimit)) OR e.type = 'Redacted' AS is_too_much
                     FROM \(unescaped: name.description) AS e
                    WHERE e.partition = stream.partition AND e.position > stream.after AND e.key = stream.key
                      AND e.kind = 'event'
                      -- Of a group session only messages are emptied, from which nothing follows.
                      AND (e.type <> 'Redacted' OR e.key LIKE 'account/%')) AS l
             WHERE stream.goes_on
             ORDER BY 1, 7 NULLS FIRST
            """
    }
}
