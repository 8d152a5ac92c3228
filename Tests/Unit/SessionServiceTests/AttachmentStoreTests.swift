import Bus
import Postgres
import QuartetSessionContract
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules
@testable import SessionService

@Suite("Session: the tables of attachments")
struct AttachmentStoreTests {
    private static let tables = DatabaseTemplate.session
    private typealias Trial = StoreTrial<SessionStore>

    /// The edge's uploads, as far as session reads them.
    private static func makeUploads(_ gathering: Gathering, in database: TestDatabase) async throws {
        try await database.psql(
            """
            CREATE TABLE session_client.upload_chunk (
                account uuid, hash bytea, number int, bytes bytea, PRIMARY KEY (account, hash, number));
            GRANT USAGE ON SCHEMA session_client TO session;
            GRANT SELECT ON session_client.upload_chunk TO session
            """)
        let files = AttachmentPropertyTests.files
        let chunks = Dictionary(
            files.flatMap(\.chunks).map { (ChunkHash(of: $0), $0) }
        ) { first, _ in first }
        let rows = try gathering.rows.uploadedChunks.map { key, chunk in
            let bytes = try #require(chunks[chunk.hash])
            return (key.upload.account, Bytes(key.upload.hash.bytes), Int32(key.number), Bytes(bytes))
        }
        let connection = try await Connection.connect(Configuration(try database.url))
        try await connection.run { database in
            _ = try database.execute(
                """
                INSERT INTO session_client.upload_chunk
                SELECT * FROM unnest(\(rows.map(\.0)), \(rows.map(\.1)), \(rows.map(\.2)), \(rows.map(\.3)))
                """)
        }
        await connection.close()
    }

    @Test(
        "after any commands, in batches of any size, the tables publish what the rules alone give, and the bytes are those that were uploaded (P30)"
    )
    func sameAsRules() async throws {
        try await withRandom { random in
            for _ in 0..<2 {
                try await TestDatabase.with(Self.tables) { database in
                    var gathering = Gathering(seed: random.next())
                    let people = try AttachmentPropertyTests.begin(&gathering)
                    for _ in 0..<300 { try AttachmentPropertyTests.step(&gathering, people, using: &random) }
                    try await Self.makeUploads(gathering, in: database)
                    let trial = try await Trial(
                        SessionStore(limits: gathering.rows.limits), in: database, as: "session")
                    try await trial.replay(gathering, using: &random)
                    await trial.close()
                    let reader = try await Trial(SessionStore(), in: database, as: "session_client")
                    for group in gathering.rows.groups.sessions.keys.sorted() {
                        let states = try await reader.published(
                            "SELECT s.state FROM session.group_state AS s WHERE s.group_id = \(group)",
                            as: GroupState.self)
                        try #require(states == [try gathering.state(group)])
                    }
                    await reader.close()
                    try await Self.checkBytes(gathering, in: database)
                }
            }
        }
    }

    /// Every attachment that is shown has its bytes; what is gone is deleted in pieces, and nothing else.
    private static func checkBytes(_ gathering: Gathering, in database: TestDatabase) async throws {
        let wrong = """
            SELECT count(*) FROM session.group_attachment AS a
             WHERE a.hash IS DISTINCT FROM (
                   SELECT sha256(string_agg(sha256(c.bytes), '' ORDER BY c.number)) FROM session.attachment_chunk AS c
                    WHERE c.content = a.content)
                OR a.size <> (SELECT sum(octet_length(c.bytes)) FROM session.attachment_chunk AS c WHERE c.content = a.content)
            """
        #expect(try await database.psql(wrong) == "0")
        // One piece a call.
        while try await database.psql("SELECT session.delete_old_attachments(2) BETWEEN 1 AND 4") == "t" {}
        #expect(try await database.psql("SELECT session.delete_old_attachments(2)") == "0")
        #expect(try await database.psql(wrong) == "0")
        let left = try await database.psql(
            """
            SELECT (SELECT count(*) FROM session.deleted_content),
                   (SELECT count(*) FROM session.attachment_chunk AS c
                     WHERE NOT EXISTS (SELECT FROM session.attachment AS a WHERE a.content = c.content)),
                   (SELECT count(*) FROM session.attachment)
            """)
        // Times are long ago, so everything unfinished was too old.
        let groups = gathering.rows.groups
        let shown = groups.attachments.keys.count { groups.attachments[$0]?.completed != nil }
        #expect(left == "0|0|\(shown)")
    }

    @Test("an upload that changes while it is copied is never stored under the hash of what it was (P30)")
    func changed() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var gathering = Gathering()
            let people = try AttachmentPropertyTests.begin(&gathering)
            let group = try gathering.group(of: Array(people.prefix(2)))
            try await Self.makeUploads(gathering, in: database)
            let file = AttachmentPropertyTests.files[3]
            try gathering.adopt(file, by: people[0], to: group)
            let trial = try await Trial(SessionStore(limits: gathering.rows.limits), in: database, as: "session")
            let commands = gathering.history.map { Trial.Command($0.command, $0.context) }
            _ = try await trial.handle(Array(commands.dropLast()))
            try await database.psql("CREATE TABLE session_client.copy AS TABLE session_client.upload_chunk")
            let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
            let store = SessionStore(limits: gathering.rows.limits)
            let adoption = try #require(gathering.history.last)
            let (command, context) = (try SessionCommand(sent: adoption.command), adoption.context)
            // The rules saw one chunk, and the copy would be another, or none.
            for change in [
                "UPDATE session_client.upload_chunk SET bytes = bytes || 'x' WHERE number = 2",
                "DELETE FROM session_client.upload_chunk WHERE number = 2",
                "DELETE FROM session.attachment",
            ] {
                let rows = try await connection.run { database in
                    try database.pipeline { pipeline in
                        var rows = try store.load(
                            [Request(command, key: context.key, account: context.account)], in: pipeline)
                        _ = try SessionReducer.reduce(&rows, command, context)
                        return rows
                    }
                }
                try await database.psql(change)
                await #expect(throws: PostgresError.self, "\(change)") {
                    try await connection.run { database in
                        defer { try? database.executeScript("ROLLBACK") }
                        try database.pipeline { pipeline in
                            pipeline.query("BEGIN")
                            try store.save(rows, in: pipeline)
                            let commit = pipeline.commit()
                            try pipeline.flush()
                            try commit.check()
                        }
                    }
                }
                try await database.psql(
                    """
                    DELETE FROM session_client.upload_chunk;
                    INSERT INTO session_client.upload_chunk SELECT * FROM session_client.copy
                    """)
                #expect(try await database.psql("SELECT count(*) FROM session.attachment_chunk") == "0")
            }
            await connection.close()
            await trial.close()
        }
    }

    @Test("what isn't finished is deleted an hour after the last chunk, with its bytes, and no sooner (P30)")
    func unfinished() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var gathering = Gathering()
            let people = try AttachmentPropertyTests.begin(&gathering)
            let group = try gathering.group(of: Array(people.prefix(2)))
            try await Self.makeUploads(gathering, in: database)
            try gathering.adopt(AttachmentPropertyTests.files[3], by: people[0], to: group)
            let trial = try await Trial(SessionStore(limits: gathering.rows.limits), in: database, as: "session")
            _ = try await trial.handle(gathering.history.map { Trial.Command($0.command, $0.context) })
            await trial.close()
            for (age, deleted) in [("59 minutes", "0"), ("61 minutes", "4")] {
                try await database.psql(
                    "UPDATE session.attachment SET renewed_at = clock_timestamp() - interval '\(age)'")
                #expect(try await database.psql("SELECT session.delete_old_attachments(1000)") == deleted)
            }
            #expect(try await database.psql("SELECT session.delete_old_attachments(1000)") == "1")
            #expect(
                try await database.psql(
                    """
                    SELECT (SELECT count(*) FROM session.attachment_chunk) + (SELECT count(*) FROM session.deleted_content)
                         + (SELECT count(*) FROM session.attachment)
                    """) == "0")
        }
    }

    @Test("every property of an attachment has its column, and comes back from it unchanged")
    func columns() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let (group, anna) = (GroupID.new(), AccountID.new())
            try await database.psql(
                """
                INSERT INTO session.group_session (group_id, creator, activity, capacity, seats, is_open_to_contacts, host, joins, created_at)
                VALUES ('\(group)', '\(anna)', 'chess', 8, 5, false, '\(anna)', 1, now())
                """)
            var (begun, complete) = (AttachmentRow.blank, AttachmentRow.blank)
            (begun.content, begun.size, begun.renewed) = (.new(), 7, Instant(microseconds: 1_700_000_000_000_001))
            (complete.content, complete.size, complete.renewed) = (
                .new(), 8, Instant(microseconds: 1_700_000_000_000_002)
            )
            complete.completed = Instant(microseconds: 1_700_000_000_000_003)
            let keys = [1, 2].map { AttachmentKey(group, anna, ContentHash(of: [$0])) }
            try await Tables.attachment.expectRoundTrip(
                of: [(keys[0], begun), (keys[1], complete)], in: database, as: "session")
            try await database.psql(
                """
                INSERT INTO session.attachment (group_id, account, hash, content, size, renewed_at)
                SELECT '\(group)', '\(anna)', decode(h, 'hex'), gen_random_uuid(), 1, now()
                  FROM unnest(ARRAY['\(keys[0].hash)', '\(keys[1].hash)']) AS h
                """)
            try await Tables.attachmentDescription.expectRoundTrip(
                of: [
                    (keys[0], AttachmentDescription(name: "a", contentType: "a/b", metadata: ["x": .null])),
                    (keys[1], AttachmentDescription(name: "c", contentType: "d/e")),
                ], in: database, as: "session")
        }
    }
}
