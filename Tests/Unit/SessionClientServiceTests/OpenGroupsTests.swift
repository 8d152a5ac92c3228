import QuartetSessionClientOrchestration
import QuartetVocabulary
import TestKit
import Testing

@testable import SessionClientService

@Suite("Session-client: sessions followed as a contact of the host")
struct OpenGroupsTests {
    private let anna = AccountID.new()
    private let ben = AccountID.new()
    private let group = GroupID.new()

    @Test("following ends with the relation, also when that ended while it was looked up (P6 T22)")
    func race() {
        let (open, ends) = (OpenGroups(), Observed(0))
        func note(_ basis: GroupAccess.Basis?, since interruptions: UInt64) {
            open.note(basis, of: group, since: interruptions) { ends.update { $0 += 1 } }
        }
        note(.openness(anna), since: open.interruptions)
        open.interrupt(besides: [anna: false])
        #expect(ends.value == 0)
        open.interrupt(besides: [ben: true])
        #expect(ends.value == 1)
        // It was looked up before the relation ended, and noted after.
        let before = open.interruptions
        open.interrupt(besides: [:])
        note(.openness(anna), since: before)
        #expect(ends.value == 2)
        // Looked up again, they are contacts again, which the stream of contacts hasn't come to yet.
        note(.openness(anna), since: open.interruptions)
        #expect(ends.value == 2)
        // Another relation ended meanwhile: that doesn't matter.
        let other = open.interruptions
        open.interrupt(besides: [anna: true])
        note(.openness(anna), since: other)
        #expect(ends.value == 2)
        // Participants need no relation.
        note(.participant, since: open.interruptions)
        open.interrupt(besides: [:])
        note(.invitation, since: before)
        #expect(ends.value == 2)
    }
}
