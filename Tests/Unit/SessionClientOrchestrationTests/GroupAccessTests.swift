import QuartetAPI
import QuartetContractSupport
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("Who may follow a group session")
struct GroupAccessTests {
    private static let (host, guest, other) = (AccountID.new(), AccountID.new(), AccountID.new())
    private static let group = GroupID.new()

    /// A session of the host and one more, to which the guest is invited.
    private static var state: GroupState {
        GroupState(
            group: group, creator: host, isOpenToContacts: true, host: host,
            participants: [
                GroupParticipant(id: host, ordinal: 1, joined: .now),
                GroupParticipant(id: other, ordinal: 2, joined: .now),
            ], invited: [Invitation(id: guest, at: .now)])
    }

    private static func left(_ account: AccountID, _ reason: LeaveReason, host: AccountID?) -> GroupEvent {
        .participantLeft(.init(group: group, account: account, reason: reason, host: host, at: .now))
    }

    @Test("participants and invited people may, others only where it is open to them (P6)")
    func basis() {
        #expect(GroupAccess(of: Self.host, to: Self.state, isOpen: false).basis == .participant)
        #expect(GroupAccess(of: Self.guest, to: Self.state, isOpen: false).basis == .invitation)
        let stranger = AccountID.new()
        #expect(GroupAccess(of: stranger, to: Self.state, isOpen: false).basis == nil)
        #expect(GroupAccess(of: stranger, to: Self.state, isOpen: true).basis == .openness(Self.host))
    }

    @Test("it ends with the participation or invitation, and with the session, and says why (P7, P8, P9)")
    func ends() {
        for (reason, why) in [
            (LeaveReason.left, GroupStreamEnded.Reason.left), (.removed, .removed), (.dropped, .dropped),
        ] {
            var access = GroupAccess(of: Self.other, to: Self.state, isOpen: false)
            #expect(access.apply(Self.left(Self.host, reason, host: Self.other)) == .none)
            #expect(access.apply(Self.left(Self.other, reason, host: nil)) == .ended(why))
            #expect(access.basis == nil)
        }
        var guest = GroupAccess(of: Self.guest, to: Self.state, isOpen: false)
        let withdrawn = GroupEvent.invitationWithdrawn(
            .init(group: Self.group, account: Self.guest, by: Self.host, at: .now))
        #expect(guest.apply(withdrawn) == .ended(.withdrawn) && guest.basis == nil)
        for (reason, why) in [(GroupEndReason.ended, GroupStreamEnded.Reason.ended), (.expired, .expired)] {
            var access = GroupAccess(of: Self.other, to: Self.state, isOpen: false)
            let end = GroupEvent.groupSessionEnded(
                .init(
                    group: Self.group, account: Self.host, reason: reason, participants: [], invited: [], at: .now))
            #expect(access.apply(end) == .ended(why))
        }
    }

    @Test("whoever joins while following is a participant from then on (P6)")
    func joins() {
        var guest = GroupAccess(of: Self.guest, to: Self.state, isOpen: false)
        let joined = GroupEvent.participantJoined(
            .init(group: Self.group, account: Self.guest, ordinal: 3, isHost: false, at: .now))
        #expect(guest.apply(joined) == .none && guest.basis == .participant)
        // An invitation that comes late changes nothing.
        let invited = GroupEvent.participantsInvited(
            .init(group: Self.group, account: Self.host, invited: [Self.guest], at: .now))
        #expect(guest.apply(invited) == .none && guest.basis == .participant)
    }

    @Test("who follows as a contact of the host is looked up again when the host changes (P6, P20)")
    func hosts() {
        let stranger = AccountID.new()
        let transfer = GroupEvent.hostTransferred(
            .init(group: Self.group, account: Self.other, from: Self.host, at: .now))
        var access = GroupAccess(of: stranger, to: Self.state, isOpen: true)
        #expect(access.apply(Self.left(Self.other, .left, host: Self.host)) == .none)
        #expect(access.apply(transfer) == .unknown)
        access = GroupAccess(of: stranger, to: Self.state, isOpen: true)
        #expect(access.apply(Self.left(Self.host, .left, host: Self.other)) == .unknown)
        var guest = GroupAccess(of: Self.guest, to: Self.state, isOpen: true)
        #expect(guest.apply(transfer) == .none && guest.basis == .invitation)
    }
}
