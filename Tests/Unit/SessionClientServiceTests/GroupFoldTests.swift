import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Hashes of a group session, folded once")
struct GroupFoldTests {
    private static let group = GroupID.new()
    private let people = (0..<4).map { _ in AccountID.new() }

    /// A session that begins, and somebody who joins at each position after that.
    private var events: [RecordedMessage] {
        get throws {
            let created = GroupSessionCreated(
                group: Self.group, account: people[0], activity: GroupSessionActivity(identifier: "a", title: "A"),
                capacity: 8,
                seats: 5, isOpenToContacts: false, at: Instant(microseconds: 1))
            let joined = people.dropFirst().enumerated().map { number, account in
                ParticipantJoined(
                    group: Self.group, account: account, ordinal: number + 2, isHost: false,
                    at: Instant(microseconds: 2))
            }
            return try ([created] + joined as [any EventBody]).enumerated().map { number, body in
                try recorded(type(of: body).type, body.encoded(), at: Int64(10 * (number + 1)))
            }
        }
    }

    private func recorded(_ type: String, _ body: [UInt8], at position: Int64) throws -> RecordedMessage {
        RecordedMessage(
            partition: Partition(0), position: Position(position),
            message: Message(kind: .event, type: type, key: .group(Self.group), body: body), recordedAt: .now)
    }

    /// The state after so many events, and its hash.
    private func state(after count: Int) throws -> (state: GroupState, hash: String) {
        var state = GroupState(group: Self.group)
        for recorded in try events.prefix(count) {
            let message = recorded.message
            state.apply(try SessionEvent(type: message.type, version: message.version, body: message.body))
        }
        return (state, HashedGroupState(state).hash.description)
    }

    @Test("connections that are ahead, behind and new get the hash of the state at their place (T15)")
    func hashes() throws {
        let (fold, events) = (GroupFold(), try events)
        let begun = try state(after: 1)
        #expect(fold.join(begun.state, at: Position(10)) == begun.hash)
        // The first one goes ahead, the second one follows.
        for _ in 0..<2 {
            for count in 2...4 { #expect(try fold.pass(events[count - 1]) == state(after: count).hash) }
        }
        // Somebody resumes from before all of this, and somebody joins on the way.
        #expect(fold.pass(events[0]) == nil)
        let third = try state(after: 3)
        #expect(fold.join(third.state, at: Position(30)) == third.hash)
        #expect(try fold.pass(events[3]) == state(after: 4).hash)
    }

    @Test("what lies between two joins has no hash rather than a wrong one (T15)")
    func gaps() throws {
        let (fold, events) = (GroupFold(), try events)
        _ = fold.join(try state(after: 1).state, at: Position(10))
        // It joined further than the one before has come.
        let third = try state(after: 3)
        #expect(fold.join(third.state, at: Position(35)) == third.hash)
        #expect(fold.pass(events[1]) == nil && fold.pass(events[2]) == nil)
        #expect(try fold.pass(events[3]) == state(after: 4).hash)
    }

    @Test("after an event that this process can't read, there are no hashes until somebody joins (T15)")
    func unreadable() throws {
        let (fold, events) = (GroupFold(), try events)
        _ = fold.join(try state(after: 1).state, at: Position(10))
        #expect(fold.pass(try recorded("FromTomorrow", Array("{}".utf8), at: 15)) == nil)
        #expect(fold.pass(events[1]) == nil)
        let third = try state(after: 3)
        #expect(fold.join(third.state, at: Position(30)) == third.hash)
        #expect(try fold.pass(events[3]) == state(after: 4).hash)
    }
}
