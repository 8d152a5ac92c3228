import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

/// The relations of one set of tables.
typealias People = RuleTrial<ContactsReducer, ContactsState>

extension People {
    init(seed: UInt64 = 1) {
        self.init(ContactsRows(), of: Self.contacts, seed: seed)
        rows.limits.pingCooldown = .seconds(10)
    }

    private static var contacts: Service {
        Service(
            state: { ContactsState(account: $0) }, fold: { $0.apply($1) },
            isLast: { if case .contactsClosed = $0 { true } else { false } },
            // A canary has no stream, nobody is to see when somebody was reached, and a timer that comes too early is set again.
            quiet: { command, before, after in
                command is OpenCanary || command is RecordReached || command is LapseReach || command is RestoreReach
                    || command is BeginNextTier || command is AskForRenewal || command is JudgePings
                    || command is SettleUnansweredPings
                    ? after : before
            },
            check: { asker, emissions in
                // A command's result is its first event, so that is the asker's. A timer asks for nobody, and what others hear
                // because somebody was reached, or because it is time to ask them, is nobody's result.
                guard let first = emissions.first, let asker else { return }
                switch first.event {
                case .responderReachChanged, .renewalAsked, .renewalSettled: return
                default: break
                }
                try #require(first.key == .account(asker))
            })
    }

    /// An account that is open.
    mutating func person() throws -> AccountID {
        let account: AccountID = id()
        try ask(account, OpenAccount(code: id()))
        return account
    }

    /// Two people: the first is the other's responder.
    mutating func responderAndDependent() throws -> (responder: AccountID, dependent: AccountID) {
        let people = (try person(), try person())
        try add(people.0, people.1, iAmResponder: true)
        return people
    }

    /// One account adds another by its code.
    @discardableResult
    mutating func add(
        _ account: AccountID, _ other: AccountID, isMyResponder: Bool = false, iAmResponder: Bool = false
    ) throws -> [ContactsEvent] {
        try ask(
            account,
            AddContact(code: rows.published(other).code, isMyResponder: isMyResponder, iAmResponder: iAmResponder))
    }

    /// An account's side of its relation with another.
    func side(of account: AccountID, with other: AccountID) -> RelationRow.Side? {
        let row = rows[Pair(account, other)]
        return account < other ? row?.low : row?.high
    }

    func contact(_ account: AccountID, _ other: AccountID) -> Contact? { rows.published(account).contacts[other] }
}
