import Bus
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("How much an event has the policies ask for")
struct PolicyWeightTests {
    private let handler = PolicyHandler(SessionPolicy { _, _ in .new() }, logs: [])

    private func weight(_ body: some EventBody) throws -> Int {
        let message = Message(
            kind: .event, type: type(of: body).type, key: body.stream, body: try body.encoded())
        let recorded = RecordedMessage(
            partition: Partition(1), position: Position(1), message: message, recordedAt: Instant(microseconds: 2))
        return handler.weight(of: recorded)
    }

    @Test("the end of a large session counts for all that hear of it, a small event for nothing (S36)")
    func ends() throws {
        let at = Instant(microseconds: 1)
        let participants = (0..<100).map { _ in AccountID.new() }
        let invited = (0..<200).map { _ in AccountID.new() }
        let end = GroupSessionEnded(
            group: .new(), account: participants[0], reason: .ended, participants: participants, invited: invited,
            guests: invited, at: at)
        #expect(try weight(end) == 599)
        let left = ParticipantLeft(group: .new(), account: participants[0], reason: .left, host: nil, at: at)
        #expect(try weight(left) == 0)
    }
}
