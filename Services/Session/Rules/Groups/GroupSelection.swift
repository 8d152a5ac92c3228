import QuartetSessionContract
import QuartetVocabulary

extension SessionRows.Selection {
    mutating func add(_ command: GroupCommand, of asker: AccountID?) {
        switch command {
        case .createGroupSession(let command):
            groups.insert(command.group)
            addNewcomer(asker)
        case .joinGroupSession(let command):
            addPlayback(command.group)
            addNewcomer(asker)
            welcoming.insert(command.group)
        case .activateGroupSession(let command):
            groups.insert(command.group)
            accounts.formUnion(command.contacts)
            named.formUnion(command.contacts)
            welcoming.insert(command.group)
            if let asker { withdrawals.formUnion(command.contacts.map { WithdrawalKey(asker, $0) }) }
        case .leaveGroupSession(let command): addLeaving(command.group)
        case .removeParticipant(let command): addLeaving(command.group)
        case .transferHost(let command): groups.insert(command.group)
        case .endGroupSession(let command): addLeaving(command.group)
        case .expireGroupSession(let command): addLeaving(command.group)
        case .withdrawInvitations(let command):
            guard let asker else { return }
            accounts.formUnion([asker, command.contact])
            followed.insert(asker)
            named.insert(command.contact)
            withdrawals.insert(WithdrawalKey(asker, command.contact))
            estranged.append((inviter: asker, invited: command.contact))
        }
    }

    mutating func add(_ command: PresenceCommand) {
        switch command {
        case .renewEdge(let command): renewingEdges.insert(command.edge)
        case .expireEdge(let command):
            expiringEdges.insert(command.edge)
            deciding.insert(.edge(command.edge))
        case .connectParticipant(let command):
            addPresence(command.group)
            connectingEdges.insert(command.edge)
        case .disconnectParticipant(let command): addPresence(command.group)
        case .announceDrop(let command):
            addPlayback(command.group)
            deciding.insert(.group(command.group))
        case .dropParticipant(let command):
            addPresence(command.group)
            addPlayback(command.group)
            deciding.insert(.group(command.group))
        }
    }

    /// For an account that creates or joins a session: its own row, and the sessions it is in.
    private mutating func addNewcomer(_ account: AccountID?) {
        guard let account else { return }
        accounts.insert(account)
        newcomers.insert(account)
    }

    private mutating func addPresence(_ group: GroupID) {
        groups.insert(group)
        connectedGroups.insert(group)
    }

    /// A session that may end.
    private mutating func addLeaving(_ group: GroupID) {
        addPresence(group)
        gaming.insert(group)
        ending.insert(group)
        addQueue(group)
        attaching.insert(group)
    }
}
