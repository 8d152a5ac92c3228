import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

@testable import QuartetContactsRules

extension ContactsRows {
    /// The account's published state: the same as the view `contacts.contacts_state` gives, and as folding the
    /// account's stream.
    func published(_ account: AccountID) -> ContactsState {
        var state = ContactsState(account: account)
        guard let row = accounts[account] else { return state }
        guard row.closed == nil else {
            state.isClosed = true
            return state
        }
        state.code = row.code
        state.isApprovalRequired = row.isApprovalRequired
        state.responderReach = row.responderReach
        state.responderTiers = row.responderTiers
        state.responderTiersVersion = row.responderTiersVersion > 0 ? row.responderTiersVersion : nil
        state.pingEscalation = row.pingEscalation
        for contact in contacts(of: account) {
            guard let relation = self[Pair(account, contact)] else { continue }
            state.contacts[contact] = RelationView(relation, of: account, with: contact).seen
        }
        for ends in requests(of: account) {
            guard let request = requests[ends] else { continue }
            let isMine = ends.from == account
            let other = isMine ? ends.to : ends.from
            state.requests[other] = ContactRequest(
                account: other, direction: isMine ? .outgoing : .incoming,
                isMyResponder: isMine ? request.isMyResponder : request.iAmResponder,
                iAmResponder: isMine ? request.iAmResponder : request.isMyResponder, requested: request.requested)
        }
        for (recipient, row) in answers(seenBy: account) {
            guard let answer = row.answer, let answered = row.answered else { continue }
            state.alarmAnswers = state.alarmAnswers ?? []
            state.alarmAnswers?[.init(recipient.alarm, recipient.responder)] = GivenAlarmAnswer(
                dependent: recipient.account, alarm: recipient.alarm, responder: recipient.responder, answer: answer,
                until: row.until, answered: answered)
        }
        state.blocked = blocks.keys.filter { $0.from == account }.map(\.to).sorted()
        return state
    }

    /// Those to the account's own alarms, and to those that it was told of.
    private func answers(seenBy account: AccountID) -> [(RecipientKey, RecipientRow)] {
        recipients.keys.filter { key in
            key.account == account || recipients[RecipientKey(key.account, key.alarm, account)]?.isResponder == true
        }.compactMap { key in
            recipients[key].flatMap { row in
                row.answer != .needsHelp && row.hidden?.contains(account) == true ? nil : (key, row)
            }
        }
    }
}
