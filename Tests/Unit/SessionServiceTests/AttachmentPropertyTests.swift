import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: whatever people do with attachments")
struct AttachmentPropertyTests {
    /// Few files, so that people upload the same ones.
    static let files = [File(1, size: 1), File(2, size: 65_536), File(3, size: 65_537), File(4, size: 150_000)]

    @Test("who folds the stream sees the tables; everything shown is whole; the room is never exceeded (P30 T15)")
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<8 {
                var gathering = Gathering(seed: random.next())
                let people = try Self.begin(&gathering)
                for _ in 0..<400 {
                    try Self.step(&gathering, people, using: &random)
                    try Self.check(gathering)
                }
                try Self.checkHashes(gathering)
            }
        }
    }

    static func begin(_ gathering: inout Gathering) throws -> [AccountID] {
        let people = try GroupPropertyTests.begin(&gathering)
        gathering.rows.limits.attachments = 4
        gathering.rows.limits.attachmentsOfGroup = 300_000
        gathering.rows.limits.attachmentsOfAccount = 220_000
        for person in people {
            for file in files { gathering.upload(file, of: person) }
            // One that isn't what it is called.
            gathering.upload(files[1], as: files[2].hash, of: person, [0])
        }
        return people
    }

    /// Something that happens to sessions, and something with an attachment.
    static func step(
        _ gathering: inout Gathering, _ people: [AccountID], using random: inout SeededRandom
    ) throws {
        if random.oneIn(4) { try GroupPropertyTests.step(&gathering, people, using: &random) }
        let groups = gathering.rows.groups.sessions.keys.sorted().suffix(3)
        guard let group = groups.randomElement(using: &random),
            let person = people.randomElement(using: &random), let file = files.randomElement(using: &random)
        else { return }
        gathering.pass(.seconds(random.oneIn(50) ? 3000 : 1))
        let chunks = file.chunks.count
        let command: any CommandBody =
            switch Int.random(in: 0..<20, using: &random) {
            case 0...5: BeginAttachment(group: group, attachment: file.hash, size: file.bytes.count)
            case 6: BeginAttachment(group: group, attachment: file.hash, size: file.bytes.count + 1)
            case 7...12:
                AdoptChunks(
                    group: group, attachment: file.hash, first: random.oneIn(2) ? 0 : chunks - 1,
                    count: random.oneIn(4) ? 1 : chunks)
            case 13...17: file.completion(in: group)
            default: RemoveAttachment(group: group, attachment: file.hash)
            }
        do { try gathering.ask(person, command) } catch is Rejection {}
    }

    private static func check(_ gathering: Gathering) throws {
        let groups = gathering.rows.groups
        for group in groups.sessions.keys {
            let state = try gathering.state(group)
            let rows = groups.attachments(of: group)
            try #require(rows.count <= 4 && rows.map(\.row.size).reduce(0, +) <= 300_000)
            try #require(state.attachments.count == rows.count { $0.row.completed != nil })
            if state.end != nil { try #require(rows.isEmpty) }
        }
        var sizes: [AccountID: Int] = [:]
        for key in groups.attachments.keys {
            let row = try #require(groups.attachments[key])
            sizes[key.account, default: 0] += row.size
            guard row.completed != nil else { continue }
            let hashes = try (0..<AttachmentRules.chunks(in: row.size)).map {
                try #require(groups.chunks[ChunkKey(row.content, $0)])
            }
            try #require(ContentHash(of: hashes) == key.hash)
        }
        try #require(sizes.values.allSatisfy { $0 <= 220_000 })
    }

    private static func checkHashes(_ gathering: Gathering) throws {
        var hashed: [GroupID: HashedGroupState] = [:]
        for (_, event) in gathering.log {
            guard let group = event.body.stream.group else { continue }
            hashed[group, default: HashedGroupState(GroupState(group: group))].apply(event)
        }
        for followed in hashed.values { try #require(followed.hash == HashedGroupState(followed.state).hash) }
    }
}
