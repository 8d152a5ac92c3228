package import QuartetAPI
import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// Whether an account may follow a group session, in step with the session's stream.
///
/// Participants and invited people may. Others may where the session is open to contacts of its host and they are one, which
/// its stream doesn't say: what they may is looked up again whenever it could have changed.
package struct GroupAccess: Hashable, Sendable {
    package enum Basis: Hashable, Sendable {
        case participant
        case invitation
        /// As a contact of this host.
        case openness(AccountID)
    }

    package let account: AccountID
    /// Nil for someone who may not follow the session.
    package private(set) var basis: Basis?

    /// - Parameters:
    ///   - state: The session's.
    ///   - isOpen: Whether the session is open to the account as it was looked up.
    package init(of account: AccountID, to state: GroupState, isOpen: Bool) {
        self.account = account
        if state.participants[account] != nil {
            basis = .participant
        } else if state.invited[account] != nil {
            basis = .invitation
        } else if isOpen, let host = state.host {
            basis = .openness(host)
        }
    }

    package enum Change: Hashable, Sendable {
        /// It goes on.
        case none
        /// It is to be looked up again.
        case unknown
        case ended(GroupStreamEnded.Reason)
    }

    /// Takes in the next event of the stream. Someone who may not follow the session any more still gets this event.
    package mutating func apply(_ event: GroupEvent) -> Change {
        switch event {
        case .participantJoined(let event) where event.account == account: basis = .participant
        case .participantsInvited(let event) where event.invited.contains(account) && basis != .participant:
            basis = .invitation
        case .participantLeft(let event) where event.account == account:
            return end(GroupStreamEnded.Reason(event.reason))
        case .invitationWithdrawn(let event) where event.account == account: return end(.withdrawn)
        case .groupSessionEnded(let event): return end(event.reason == .expired ? .expired : .ended)
        case .participantLeft(let event):
            if case .openness(let host) = basis, event.host != host { return .unknown }
        case .hostTransferred:
            if case .openness = basis { return .unknown }
        case .groupSessionCreated, .participantsInvited, .invitationWithdrawn, .participantJoined, .participantUpdated,
            .participantDisconnected, .participantConnected:
            break
        }
        return .none
    }

    private mutating func end(_ reason: GroupStreamEnded.Reason) -> Change {
        basis = nil
        return .ended(reason)
    }
}

extension GroupStreamEnded.Reason {
    /// Why someone who was in a session isn't any more.
    package init(_ reason: LeaveReason) {
        switch reason {
        case .left, .accountClosed: self = .left
        case .removed: self = .removed
        case .dropped: self = .dropped
        case .ended: self = .ended
        }
    }
}
