import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: consent")
struct ConsentTests {
    private typealias Asked = (asker: AccountID, asked: AccountID)

    private static func request(
        _ people: inout People, isMyResponder: Bool = false, iAmResponder: Bool = true
    ) throws -> Asked {
        let (anna, ben) = (try people.person(), try people.person())
        try people.ask(
            anna,
            AddContact(contact: ben, isMyResponder: isMyResponder, iAmResponder: iAmResponder, nickname: "Benny"))
        return (anna, ben)
    }

    @Test("adding by account is a request, whatever the other's setting; by code only if they want to approve (S7)")
    func byAccount() throws {
        var people = People()
        for isRequired in [false, true] {
            let (anna, ben) = (try people.person(), try people.person())
            if isRequired { try people.ask(ben, SetContactApproval(isRequired: true)) }
            let byCode = AddContact(code: people.rows.published(ben).code, isMyResponder: false, iAmResponder: true)
            if isRequired {
                try people.ask(anna, byCode)
            } else {
                try people.ask(anna, AddContact(contact: ben, isMyResponder: false, iAmResponder: true))
            }
            #expect(people.contact(anna, ben) == nil && people.contact(ben, anna) == nil)
            let request = people.rows.published(ben).requests[anna]
            #expect(request?.direction == .incoming && request?.isMyResponder == true && request?.iAmResponder == false)
            #expect(try people.rejection(anna, SendPing(contact: ben)) == .notContact)
            #expect(try people.rejection(anna, RequestRoleChange(contact: ben)) == .notContact)
        }
    }

    @Test("approving makes contacts with the requested roles; declining and withdrawing make none (S7)")
    func answers() throws {
        var people = People()
        let (anna, ben) = try Self.request(&people)
        let add = AddContact(contact: ben, isMyResponder: false, iAmResponder: true, nickname: "Benny")
        #expect(try people.rejection(anna, add) == .alreadyRequested)
        for (account, command) in [
            (ben, DeclineContactRequest(contact: anna)),
            (anna, WithdrawContactRequest(contact: ben)),
        ] as [(AccountID, any CommandBody)] {
            let events = try people.ask(account, command)
            #expect(events.map(\.account) == [account, account == anna ? ben : anna])
            #expect(people.rows.published(anna).requests.isEmpty && people.contact(anna, ben) == nil)
            #expect(try people.rejection(account, command) == .notFound)
            try people.ask(anna, add)
        }
        let yes = ApproveContactRequest(contact: anna, isMyResponder: true, iAmResponder: false)
        let events = try people.ask(ben, yes)
        guard case .contactAdded(let mine) = events[0], case .contactAdded(let theirs) = events[1] else {
            throw Unexpected(events)
        }
        #expect(mine.account == ben && mine.isAcceptance && theirs.isAcceptance && theirs.by == ben)
        #expect(people.contact(anna, ben)?.iAmResponder == true && people.contact(anna, ben)?.nickname == "Benny")
        #expect(people.contact(anna, ben)?.isMyResponder == false && people.contact(ben, anna)?.isMyResponder == true)
        #expect(people.rows.published(ben).requests.isEmpty)
    }

    @Test("a request replaced by one that asks for more isn't approved by mistake (S7)")
    func exchanged() throws {
        var people = People()
        let (anna, ben) = try Self.request(&people, isMyResponder: true, iAmResponder: false)
        let seen = try #require(people.rows.published(ben).requests[anna])
        try people.ask(anna, WithdrawContactRequest(contact: ben))
        try people.ask(anna, AddContact(contact: ben, isMyResponder: true, iAmResponder: true))
        let yes = ApproveContactRequest(
            contact: anna, isMyResponder: seen.isMyResponder, iAmResponder: seen.iAmResponder)
        #expect(try people.rejection(ben, yes) == .requestChanged)
        #expect(people.contact(anna, ben) == nil)
    }

    @Test("adding someone who has asked already answers the request, and shows nothing that wasn't agreed to (S7)")
    func crossing() throws {
        var people = People()
        // Both want to see: neither agreed to be seen.
        var (anna, ben) = try Self.request(&people)
        let see = AddContact(contact: anna, isMyResponder: false, iAmResponder: true)
        #expect(try people.rejection(ben, see) == .alreadyRequested)
        // The person who will be seen consents.
        try people.ask(ben, AddContact(contact: anna, isMyResponder: true, iAmResponder: false))
        #expect(people.contact(anna, ben)?.iAmResponder == true && people.contact(anna, ben)?.isMyResponder == false)
        // An accepted offer lets the other see; it doesn't grant a wish to be seen.
        (anna, ben) = try Self.request(&people, isMyResponder: true, iAmResponder: true)
        try people.ask(ben, AddContact(contact: anna, isMyResponder: false, iAmResponder: true))
        #expect(people.contact(ben, anna)?.iAmResponder == true && people.contact(ben, anna)?.isMyResponder == false)
        #expect(people.rows.published(anna).requests.isEmpty)
        // A code agrees to everything.
        (anna, ben) = try Self.request(&people)
        try people.add(ben, anna, iAmResponder: true)
        #expect(people.contact(ben, anna)?.iAmResponder == true && people.contact(ben, anna)?.isMyResponder == false)
    }

    @Test("becoming a responder needs the dependent's consent; ceasing to be one doesn't (S8)")
    func widening() throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        try people.add(anna, ben, isMyResponder: true)
        let widen = UpdateContact(contact: ben, expectedVersion: 1, iAmResponder: true)
        #expect(try people.rejection(anna, widen) == .consentRequired)
        let ask = RequestRoleChange(contact: ben)
        let at = people.time
        let asked = try people.ask(anna, ask)
        #expect(
            asked == [
                .roleChangeRequested(.init(account: anna, contact: ben, direction: .outgoing, at: at)),
                .roleChangeRequested(.init(account: ben, contact: anna, direction: .incoming, at: at)),
            ])
        people.pass(.minutes(1))
        #expect(try people.ask(anna, ask).isEmpty, "one at a time")
        #expect(people.contact(anna, ben)?.outgoingRoleRequest == at && people.contact(anna, ben)?.version == 1)
        #expect(people.contact(anna, ben)?.iAmResponder == false)
        #expect(try people.rejection(anna, AcceptRoleChange(contact: ben)) == .notFound)
        #expect(try people.rejection(anna, DeclineRoleChange(contact: ben)) == .notFound)
        #expect(try people.rejection(ben, WithdrawRoleChange(contact: anna)) == .notFound)

        let events = try people.ask(ben, AcceptRoleChange(contact: anna))
        guard events.count == 3, case .contactUpdated(let mine) = events[0],
            case .contactUpdated(let theirs) = events[1]
        else { throw Unexpected(events) }
        #expect(mine.account == ben && mine.isAcceptance && theirs.isAcceptance && theirs.by == ben)
        let card = try #require(people.contact(anna, ben))
        #expect(card.iAmResponder && card.notifyOnMissedCheckIn && card.outgoingRoleRequest == nil && card.version == 2)
        #expect(try people.ask(anna, ask).isEmpty, "there is nothing to ask for")
        // The seen one takes it back alone.
        try people.ask(ben, UpdateContact(contact: anna, expectedVersion: 2, isMyResponder: false))
        #expect(people.contact(anna, ben)?.iAmResponder == false && people.contact(anna, ben)?.isMyResponder == true)
    }

    @Test(
        "a role request ends on both sides when declined or withdrawn, and making someone a responder answers it (S8)")
    func roleAnswers() throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        try people.add(anna, ben, isMyResponder: true)
        let endings: [(AccountID, any CommandBody, RelationEndReason)] = [
            (ben, DeclineRoleChange(contact: anna), .declined),
            (anna, WithdrawRoleChange(contact: ben), .withdrawn),
        ]
        for (account, command, reason) in endings {
            try people.ask(anna, RequestRoleChange(contact: ben))
            let events = try people.ask(account, command)
            let first = try events.first(as: RoleChangeEnded.self)
            #expect(events.count == 2 && first.account == account && first.reason == reason)
            #expect(people.contact(anna, ben)?.outgoingRoleRequest == nil)
            #expect(people.contact(anna, ben)?.iAmResponder == false)
            #expect(try people.rejection(account, command) == .notFound)
        }
        try people.ask(anna, RequestRoleChange(contact: ben))
        let events = try people.ask(
            ben, UpdateContact(contact: anna, expectedVersion: 1, isMyResponder: true))
        guard case .contactUpdated(let told) = events[1] else { throw Unexpected(events) }
        #expect(told.account == anna && told.isAcceptance && told.contact.outgoingRoleRequest == nil)
        #expect(told.contact.iAmResponder)
    }

    @Test("strangers' requests keep nobody out: the oldest ends, and both sides hear of it (S7)")
    func crowd() throws {
        var people = People()
        people.rows.limits.requests = 3
        let (ben, friend) = (try people.person(), try people.person())
        try people.add(ben, friend, isMyResponder: true)
        func ask(_ account: AccountID) throws -> [ContactsEvent] {
            people.pass(.seconds(1))
            return try people.ask(account, AddContact(contact: ben, isMyResponder: false, iAmResponder: true))
        }
        func waiting() -> [AccountID] { people.rows.published(ben).requests.map(\.account).sorted() }
        var strangers: [AccountID] = []
        for _ in 0..<3 {
            strangers.append(try people.person())
            _ = try ask(strangers[strangers.count - 1])
        }
        // A friend's friend gets in, then another stranger.
        func friendOfFriend() throws -> AccountID {
            let account = try people.person()
            try people.add(account, friend, isMyResponder: true)
            return account
        }
        let first = try friendOfFriend()
        let events = try ask(first)
        #expect(events.map(\.account) == [first, ben, strangers[0], ben])
        guard case .contactRequestEnded(let told) = events[2] else { throw Unexpected(events) }
        #expect(told.reason == .expired && told.direction == .outgoing)
        #expect(people.rows.published(strangers[0]).requests.isEmpty)
        let late = try people.person()
        _ = try ask(late)
        #expect(waiting() == [first, late, strangers[2]].sorted())
        // Those who have a common contact fill the room; strangers don't push them out.
        let others = [try friendOfFriend(), try friendOfFriend()]
        for other in others { _ = try ask(other) }
        #expect(waiting() == ([first] + others).sorted())
        let stranger = try people.person()
        let add = AddContact(contact: ben, isMyResponder: false, iAmResponder: true)
        #expect(try people.rejection(stranger, add) == .limitReached)
    }

    @Test("a blocked account is answered as if no one were there, whatever there was before (S9)")
    func blocked() throws {
        var people = People()
        let (anna, ben) = try Self.request(&people)
        try people.ask(ben, BlockContact(contact: anna))
        #expect(people.replicas[anna]?.requests.isEmpty == true)
        func answer(_ command: AddContact) throws -> String {
            do {
                try people.ask(anna, command)
                return "accepted"
            } catch let rejection as Rejection {
                return "\(rejection)"
            }
        }
        let code = people.rows.published(ben).code
        let byCode = try answer(AddContact(code: code, isMyResponder: true, iAmResponder: false))
        let byNoCode = try answer(AddContact(code: people.id(), isMyResponder: true, iAmResponder: false))
        #expect(byCode == byNoCode && byCode.contains("notFound"))
        let byAccount = try answer(AddContact(contact: ben, isMyResponder: true, iAmResponder: false))
        let byNoAccount = try answer(AddContact(contact: people.id(), isMyResponder: true, iAmResponder: false))
        #expect(byAccount == byNoAccount && byAccount.contains("notFound"))
    }
}
