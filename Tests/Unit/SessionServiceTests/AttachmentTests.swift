import Crypto
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: attachments")
struct AttachmentTests {
    private let small = File(1, size: 100)
    private let large = File(2, size: 2 * ContentHash.chunkSize + 1)

    @Test("content is named by the SHA-256 of the SHA-256 hashes of its chunks of 64 KiB (P30)")
    func hash() {
        let chunks = large.chunks
        #expect(chunks.map(\.count) == [65_536, 65_536, 1])
        let hashes = chunks.flatMap { Array(SHA256.hash(data: $0)) }
        #expect(large.hash.bytes == Array(SHA256.hash(data: hashes)))
        #expect(large.hash == ContentHash(of: chunks.map { ChunkHash(of: $0) }))
        for size in [1, 65_536, 65_537, 104_857_600] {
            let count = AttachmentRules.chunks(in: size)
            let sizes = (0..<count).map { AttachmentRules.size(ofChunk: $0, of: size) }
            #expect(sizes.reduce(0, +) == size && sizes.dropLast().allSatisfy { $0 == 65_536 } && (sizes.last ?? 0) > 0)
        }
        #expect(AttachmentRules.lastChunk == 1599)
    }

    @Test("an attachment is adopted in any order and shown when it is whole; it stays when its uploader leaves (P30)")
    func story() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: Array(people.prefix(2)), isOpenToContacts: true)
        let count = gathering.events(of: group).count
        gathering.upload(large, of: people[1])
        let begin = BeginAttachment(group: group, attachment: large.hash, size: large.bytes.count)
        for _ in 0..<2 { #expect(try gathering.ask(people[1], begin).isEmpty) }
        for first in [2, 0, 1, 0] {
            let adopt = AdoptChunks(group: group, attachment: large.hash, first: first, count: 1)
            #expect(try gathering.ask(people[1], adopt).isEmpty)
        }
        #expect(try gathering.state(group).attachments.isEmpty && gathering.events(of: group).count == count)
        gathering.pass(.seconds(9))
        let added = try gathering.ask(people[1], large.completion(in: group)).first(as: AttachmentAdded.self)
        #expect(added.account == people[1] && added.size == large.bytes.count && added.at == gathering.time)
        // Again, it changes nothing.
        #expect(try gathering.ask(people[1], large.completion(in: group)).isEmpty)
        let again = AdoptChunks(group: group, attachment: large.hash, first: 0, count: 3)
        #expect(try gathering.ask(people[1], again).isEmpty)
        #expect(try gathering.rejection(people[1], begin) == .attachmentExists)

        try gathering.ask(people[1], LeaveGroupSession(group: group))
        try gathering.ask(people[2], JoinGroupSession(group: group, contactOf: people[0]))
        let shown = try #require(try gathering.state(group).attachments[large.hash])
        #expect(shown.name == "film.mp4" && shown.contentType == "video/mp4" && shown.account == people[1])
        #expect(shown.metadata == ["length": 12, "none": .null])
        try gathering.ask(people[0], EndGroupSession(group: group))
        #expect(try gathering.state(group).attachments.isEmpty)
        #expect(gathering.rows.groups.attachments.keys.isEmpty)
    }

    @Test("what isn't whole, or isn't what its id names, isn't completed, and the refusal says what is missing (P30)")
    func incomplete() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let adopt = AdoptChunks(group: group, attachment: large.hash, first: 0, count: 3)
        #expect(try gathering.rejection(people[0], adopt) == .attachmentNotFound)
        #expect(try gathering.rejection(people[0], large.completion(in: group)) == .attachmentNotFound)
        try gathering.ask(
            people[0], BeginAttachment(group: group, attachment: large.hash, size: large.bytes.count))
        let other = BeginAttachment(group: group, attachment: large.hash, size: 5)
        #expect(try gathering.refusal(people[0], other)?.field == "size")
        gathering.upload(large, of: people[0], [0, 2])
        let missing = try gathering.refusal(people[0], adopt)
        #expect(missing?.code == .chunkMissing && missing?.details == ["chunk": 1])
        let beyond = AdoptChunks(group: group, attachment: large.hash, first: 2, count: 2)
        #expect(try gathering.refusal(people[0], beyond)?.field == "count")
        for number in [0, 2] {
            try gathering.ask(
                people[0], AdoptChunks(group: group, attachment: large.hash, first: number, count: 1))
        }
        let incomplete = try gathering.refusal(people[0], large.completion(in: group))
        #expect(incomplete?.code == .chunkMissing && incomplete?.details == ["chunk": 1])
        // A chunk in the middle is as long as every other one.
        gathering.rows.uploadedChunks[UploadedChunkKey(UploadKey(people[0], large.hash), 1)] = UploadedChunk(
            size: 65_535, hash: ChunkHash(of: [1]))
        let short = try gathering.refusal(people[0], adopt)
        #expect(short?.code == .wrongChunkSize && short?.details == ["chunk": 1])
        gathering.rows.uploadedChunks[UploadedChunkKey(UploadKey(people[0], large.hash), 1)] = UploadedChunk(
            size: 65_536, hash: ChunkHash(of: [1]))
        try gathering.ask(people[0], adopt)
        let count = CompleteAttachment(
            group: group, attachment: large.hash, chunks: 2, name: "a", contentType: "a/b")
        #expect(try gathering.refusal(people[0], count)?.field == "chunks")
        #expect(try gathering.rejection(people[0], large.completion(in: group)) == .contentMismatch)
        // It can be begun again.
        #expect(try gathering.ask(people[0], RemoveAttachment(group: group, attachment: large.hash)).isEmpty)
        try gathering.attach(large, by: people[0], to: group)
        #expect(try gathering.state(group).attachments.count == 1)
    }

    @Test("nobody adopts, completes or learns of what another account uploads (P30)")
    func strangers() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: Array(people.prefix(2)))
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[2]]))
        try gathering.adopt(small, by: people[0], to: group)
        let commands: [any CommandBody] = [
            BeginAttachment(group: group, attachment: small.hash, size: 100),
            AdoptChunks(group: group, attachment: small.hash, first: 0, count: 1), small.completion(in: group),
            RemoveAttachment(group: group, attachment: small.hash),
        ]
        for command in commands {
            #expect(try gathering.rejection(people[3], command) == .groupNotFound)
            #expect(try gathering.rejection(people[2], command) == .notParticipant)
            #expect(try gathering.rejection(nil, command) == .accountRequired)
        }
        // To another participant it is as if nobody uploaded it.
        for command in commands.dropFirst() {
            #expect(try gathering.rejection(people[1], command) == .attachmentNotFound)
        }
        try gathering.ask(people[1], commands[0])
        #expect(try gathering.rejection(people[1], commands[1]) == .chunkMissing)
        #expect(try gathering.rejection(people[1], commands[2]) == .chunkMissing)
        gathering.upload(small, of: people[1])
        try gathering.ask(people[1], commands[1])
        try gathering.ask(people[1], commands[2])
        #expect(try gathering.rejection(people[0], commands[2]) == .attachmentExists)
        #expect(try gathering.state(group).attachments[small.hash]?.account == people[1])
        try gathering.ask(people[0], EndGroupSession(group: group))
        for command in commands { #expect(try gathering.rejection(people[0], command) == .groupEnded) }
    }

    @Test("an attachment is removed by its uploader or the host, and may come back (P30)")
    func remove() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        try gathering.attach(small, by: people[1], to: group)
        let remove = RemoveAttachment(group: group, attachment: small.hash)
        #expect(try gathering.rejection(people[2], remove) == .notHost)
        let first = try gathering.ask(people[0], remove).first(as: AttachmentRemoved.self)
        #expect(first.account == people[1] && first.by == people[0])
        #expect(try gathering.rejection(people[1], remove) == .attachmentNotFound)
        try gathering.attach(small, by: people[1], to: group)
        let second = try gathering.ask(people[1], remove).first(as: AttachmentRemoved.self)
        #expect(second.account == people[1] && second.by == people[1])
        #expect(try gathering.state(group).attachments.isEmpty)
    }

    @Test("an account, a session and their number have limits, which what is being uploaded counts for (P30)")
    func limits() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        let second = try gathering.group(of: [people[0]], GroupSessionActivity(identifier: "film", title: "Film"))
        let (mb, files) = (1 << 20, (3..<9).map { File($0, size: 1).hash })
        func begin(_ file: Int, _ size: Int, _ group: GroupID) -> BeginAttachment {
            BeginAttachment(group: group, attachment: files[file], size: size)
        }
        try gathering.ask(people[0], begin(0, 100 * mb, group))
        try gathering.ask(people[0], begin(0, 99 * mb, second))
        let own = try gathering.refusal(people[0], begin(1, mb + 1, group))
        #expect(own?.code == .accountStorageFull && own?.details == ["free": .integer(Int64(mb))])
        // Other accounts have room of their own, as far as the session has.
        try gathering.ask(people[1], begin(1, 100 * mb, group))
        gathering.rows.limits.attachmentsOfGroup = 250 * mb
        let all = try gathering.refusal(people[2], begin(2, 50 * mb + 1, group))
        #expect(all?.code == .groupStorageFull && all?.details == ["free": .integer(Int64(50 * mb))])
        try gathering.ask(people[2], begin(2, 50 * mb, group))
        gathering.rows.limits.attachmentsOfGroup = 1 << 30
        gathering.rows.limits.attachments = 3
        #expect(try gathering.rejection(people[2], begin(3, 1, group)) == .tooManyAttachments)
        try gathering.ask(people[1], RemoveAttachment(group: group, attachment: files[1]))
        try gathering.ask(people[2], begin(3, 1, group))
        // The end of a session gives its room back.
        try gathering.ask(people[0], EndGroupSession(group: second))
        gathering.rows.limits.attachments = 100
        try gathering.ask(people[0], begin(4, 100 * mb, group))
    }

    @Test(
        "what somebody uploads is forgotten when they leave or close their account, and kept while they are away (P30)")
    func leaving() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: people)
        for (number, person) in people.enumerated() {
            try gathering.adopt(File(UInt8(10 + number), size: 9), by: person, to: group)
        }
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        try gathering.close(people[2])
        try gathering.disconnect(people[3], from: group)
        try gathering.run(.minutes(1))
        #expect(gathering.rows.groups[group, people[3]]?.reason == .dropped)
        #expect(Set(gathering.rows.groups.attachments.keys.map(\.account)) == [people[0], people[3]])
        try gathering.close(people[3])
        #expect(Set(gathering.rows.groups.attachments.keys.map(\.account)) == [people[0]])
    }

    @Test("names, media types, metadata and numbers that can't be are refused with the field (P30)")
    func fields() throws {
        var gathering = Gathering()
        let anna = try gathering.person("anna")
        let group = try gathering.group(of: [anna])
        func complete(_ name: String = "a", _ type: String = "a/b", _ metadata: JSONValue? = nil) -> CompleteAttachment
        {
            CompleteAttachment(
                group: group, attachment: small.hash, chunks: 1, name: name, contentType: type, metadata: metadata)
        }
        let long = String(repeating: "x", count: 4096)
        let cases: [(any CommandBody, String)] = [
            (BeginAttachment(group: group, attachment: small.hash, size: 0), "size"),
            (BeginAttachment(group: group, attachment: small.hash, size: (100 << 20) + 1), "size"),
            (BeginAttachment(group: group, attachment: small.hash, size: .min), "size"),
            (AdoptChunks(group: group, attachment: small.hash, first: -1, count: 1), "first"),
            (AdoptChunks(group: group, attachment: small.hash, first: 1600, count: 1), "first"),
            (AdoptChunks(group: group, attachment: small.hash, first: .max, count: 1), "first"),
            (AdoptChunks(group: group, attachment: small.hash, first: 0, count: 65), "count"),
            (AdoptChunks(group: group, attachment: small.hash, first: 0, count: 0), "count"),
            (
                CompleteAttachment(group: group, attachment: small.hash, chunks: 0, name: "a", contentType: "a/b"),
                "chunks"
            ),
            (complete(""), "name"), (complete("a/b"), "name"), (complete("..\\x"), "name"), (complete(".."), "name"),
            (complete("a\u{202E}b"), "name"), (complete(String(repeating: "é", count: 128)), "name"),
            (complete("a", "text"), "contentType"), (complete("a", "text/html; charset=utf-8"), "contentType"),
            (complete("a", "text/html\r\nx"), "contentType"), (complete("a", "Text/HTML"), "contentType"),
            (complete("a", "a/b", "text"), "metadata"), (complete("a", "a/b", ["x": .string(long)]), "metadata"),
        ]
        for (command, field) in cases {
            let refusal = try gathering.refusal(anna, command)
            #expect(refusal?.code == .invalidField && refusal?.field == field, "\(command)")
        }
        for name in ["a", ".profile", "Übersicht 2.pdf", "…", String(repeating: "x", count: 255)] {
            try complete(name, "application/vnd.oasis.opendocument.text", ["x": .string(String(long.prefix(4088)))])
                .validate()
        }
    }
}
