import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("What apps see of a group session's events")
struct GroupAudienceTests {
    private let group = GroupID.new()
    private let host = AccountID.new()
    private let guest = AccountID.new()
    private let at = Instant(microseconds: 1_773_655_824_000_001)

    private func shown(_ body: some EventBody) throws -> [[UInt8]] {
        let (type, bytes) = (type(of: body).type, try body.encoded())
        let message = Message(kind: .event, type: type, key: body.stream, body: bytes)
        let recorded = RecordedMessage(partition: Partition(1), position: Position(1), message: message, recordedAt: at)
        let caused = CausedEvent(partition: Partition(1), position: Position(1), type: type, body: bytes)
        let reply = CommandReply(.new(), caused)
        return [StreamedEvent(recorded).body, try #require(reply.result)]
    }

    @Test("nobody reads there who invited whom (S36)")
    func inviters() throws {
        func joined(_ start: GroupStart?) -> ParticipantJoined {
            ParticipantJoined(group: group, account: guest, ordinal: 2, isHost: false, start: start, at: at)
        }
        for body in try shown(joined(GroupStart(host: host, invited: [guest]))) {
            #expect(try ParticipantJoined.decoded(from: body) == joined(nil))
        }
        func ended(_ guests: [AccountID]?) -> GroupSessionEnded {
            GroupSessionEnded(
                group: group, account: host, reason: .ended, participants: [host], invited: [guest], guests: guests,
                at: at)
        }
        for body in try shown(ended([guest])) { #expect(try GroupSessionEnded.decoded(from: body) == ended(nil)) }
    }

    @Test("everything else is as it was said (S36)")
    func others() throws {
        let left = ParticipantLeft(group: group, account: guest, reason: .left, host: host, at: at)
        for body in try shown(left) { #expect(try body == left.encoded()) }
    }
}
