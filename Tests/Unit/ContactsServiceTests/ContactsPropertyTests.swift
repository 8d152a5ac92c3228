import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: whatever people do")
struct ContactsPropertyTests {
    @Test(
        """
        after any commands both sides agree, every relation has a role, nobody sees more than agreed, and folding a \
        stream gives the tables (S27, S11, S7)
        """)
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(20, long: 200) {
                var people = People(seed: random.next())
                people.rows.limits.contacts = 3
                people.rows.limits.requests = 2
                people.rows.limits.reachWindow = .minutes(3)
                people.rows.limits.reachSpread = .minutes(1)
                people.rows.limits.returnSpread = .minutes(1)
                let accounts = try (0..<6).map { _ in try people.person() }
                var consents = Consents()
                for _ in 0..<400 {
                    people.pass(.seconds(Int64.random(in: 0...8, using: &random)))
                    let asker = accounts.randomElement(using: &random) ?? accounts[0]
                    let other = accounts.randomElement(using: &random) ?? accounts[0]
                    let command = Self.command(to: other, of: asker, in: &people, using: &random)
                    let before = people
                    do {
                        try people.ask(asker, command)
                        let seen = (command as? SetResponderTiers)?.expectedVersion
                        try #require(seen == nil || seen == before.rows.published(asker).responderTiersVersion ?? 0)
                        consents.take(command, of: asker, in: before)
                    } catch is Rejection {}
                    try Self.check(people, accounts)
                    for account in accounts {
                        for contact in people.rows.published(account).contacts where contact.iAmResponder {
                            try #require(consents.has(contact.account, agreedToBeSeenBy: account), "\(command)")
                        }
                    }
                }
            }
        }
    }

    private static func check(_ people: People, _ accounts: [AccountID]) throws {
        for account in accounts {
            let state = people.rows.published(account)
            try #require(people.replicas[account] == state)
            for contact in state.contacts {
                let mirrored = try #require(people.contact(contact.account, account))
                try #require(
                    contact.isMyResponder == mirrored.iAmResponder && contact.iAmResponder == mirrored.isMyResponder)
                try #require(contact.isMyResponder || contact.iAmResponder)
                try #require(
                    contact.outgoingPing == mirrored.incomingPing && contact.incomingPing == mirrored.outgoingPing)
                try #require(contact.outgoingPing == nil || contact.iAmResponder)
                try #require(
                    contact.outgoingRoleRequest == mirrored.incomingRoleRequest
                        && contact.incomingRoleRequest == mirrored.outgoingRoleRequest)
                try #require(contact.outgoingRoleRequest == nil || !contact.iAmResponder)
                try #require(contact.added == mirrored.added)
                try #require(!state.blocked.contains(contact.account))
            }
            try Self.checkReach(of: account, people, state)
            try #require(state.contacts.count == people.rows.contactCount(of: account))
            try #require(state.contacts.count <= people.rows.limits.contacts)
            for request in state.requests {
                try #require(people.rows.published(request.account).requests[account] != nil)
                try #require(state.contacts[request.account] == nil)
            }
        }
    }

    /// What the stream says of an account's responders is what follows from relations and from who was reached when.
    private static func checkReach(of account: AccountID, _ people: People, _ state: ContactsState) throws {
        guard !state.isClosed else { return }
        let seen = state.contacts.filter(\.isMyResponder).compactMap { contact -> Bool? in
            guard let side = people.side(of: contact.account, with: account), side.notifyOnMissedCheckIn else {
                return nil
            }
            return !side.showsReach || people.rows.accounts[contact.account]?.isReachable ?? false
        }
        try #require(state.responderReach == (seen.isEmpty ? .nobody : seen.contains(true) ? .reachable : .unreachable))
        let row = try #require(people.rows.accounts[account])
        try #require((row.unsettled != nil) == (row.responderReach != row.settledReach))
        let timers = people.rows.wantedTimers(of: account).map(\.name)
        try #require(timers.contains(LapseReach.type) == row.isReachable)
        try #require(timers.contains(RestoreReach.type) == (row.returns != nil))
        try #require(row.returns == nil || !row.isReachable)
        try #require(timers.contains(SettleResponderReach.type) == (row.unsettled != nil))
        try #require(timers.contains(BeginNextTier.type) == (row.nextTier != nil))
        try #require(timers.contains(JudgePings.type) == (row.nextPing != nil))
        try #require(timers.contains(AskForRenewal.type) == (row.nextRenewal != nil))
    }

    private static func randomTiers(
        of asker: AccountID, in people: People, using random: inout SeededRandom
    ) -> SetResponderTiers {
        let responders = people.rows.published(asker).contacts.filter(\.isMyResponder).map(\.account)
        let tiers = responders.reduce(into: [ResponderTier]()) { tiers, responder in
            tiers = tiers.moving(responder, to: .minutes(Int64.random(in: 0...2, using: &random)))
        }
        let version = people.rows.published(asker).responderTiersVersion ?? 0
        let seen = version - (random.oneIn(4) ? 1 : 0)
        return SetResponderTiers(tiers: tiers, expectedVersion: random.oneIn(2) ? seen : nil)
    }

    static func command(
        to other: AccountID, of asker: AccountID, in people: inout People, using random: inout SeededRandom
    ) -> any CommandBody {
        let (one, two) = (Bool.random(using: &random), Bool.random(using: &random))
        switch Int.random(in: 0..<80, using: &random) {
        case 70...71:
            let after: Interval? = one ? .minutes(15) : two ? .seconds(0) : nil
            return SetPingEscalation(contact: random.oneIn(2) ? other : nil, after: after)
        case 72: return SetPingQuietHours(quietHours: one ? QuietHours(from: 0, to: 1) : nil)
        case 73...77: return JudgePings(account: asker, due: people.time)
        case 78...79:
            let sent = people.side(of: other, with: asker)?.pinged ?? people.time
            return SettleUnansweredPings(
                account: asker, pings: [UnansweredPing(contact: other, sent: sent)],
                alarm: people.rows.alarms[AlarmKey(asker, .alert)]?.alarm, isRaised: one,
                allRight: random.oneIn(4) ? people.time : nil, at: people.time)
        case 58...60: return randomTiers(of: asker, in: people, using: &random)
        case 61...65: return BeginNextTier(account: asker, due: people.time)
        case 66...69: return AskForRenewal(account: asker, due: people.time)
        case 46: return RecordReached()
        case 51:
            let on = people.rows.alarms.keys.filter { $0.account == asker }.compactMap { people.rows.alarms[$0]?.alarm }
            let alarm = on.sorted().randomElement(using: &random) ?? people.id()
            guard one else { return ForgetAnswers(alarm: alarm, before: people.time) }
            return DecideClosing(alarm: alarm, version: Int.random(in: 1...3, using: &random))
        case 52...57:
            let on = people.rows.alarms.keys.filter { $0.account == other }.compactMap { people.rows.alarms[$0]?.alarm }
            let answer = AlarmAnswer.allCases.randomElement(using: &random) ?? .onIt
            return AcknowledgeAlarm(
                contact: other, alarm: on.sorted().randomElement(using: &random) ?? people.id(), answer: answer,
                minutes: answer == .onIt && one ? 5 : nil, pressed: two ? people.time : nil)
        case 47...48: return LapseReach(account: asker)
        case 50: return RestoreReach(account: asker)
        case 49: return SettleResponderReach(account: asker)
        case 0: return random.oneIn(8) ? CloseAccount() : ResetContactCode(code: people.id())
        case 1: return SetContactApproval(isRequired: one)
        case 2: return OpenAccount(code: people.id())
        case 3...9:
            let code = people.rows.published(other).code
            return AddContact(
                code: one ? code : nil, contact: one && code != nil ? nil : other, isMyResponder: one, iAmResponder: two
            )
        case 10...11:
            let request = people.rows.published(asker).requests[other]
            return ApproveContactRequest(
                contact: other, isMyResponder: random.oneIn(4) ? one : request?.isMyResponder ?? one,
                iAmResponder: random.oneIn(4) ? two : request?.iAmResponder ?? two)
        case 12: return DeclineContactRequest(contact: other)
        case 13: return WithdrawContactRequest(contact: other)
        case 14...19:
            let version = people.contact(asker, other)?.version ?? 1
            return UpdateContact(
                contact: other, expectedVersion: random.oneIn(4) ? version - 1 : version,
                nickname: random.oneIn(2) ? "n" : nil, isMyResponder: random.oneIn(3) ? one : nil,
                iAmResponder: random.oneIn(3) ? two : nil, sendPings: random.oneIn(6) ? one : nil,
                receivePings: random.oneIn(6) ? two : nil, notifyOnMissedCheckIn: random.oneIn(6) ? one : nil)
        case 20: return RemoveContact(contact: other)
        case 21: return BlockContact(contact: other)
        case 22...23: return UnblockContact(contact: other)
        case 24...31: return SendPing(contact: other)
        case 32...33: return CancelPing(contact: other)
        case 34...35: return RespondToPing(contact: other)
        case 36: return RespondToAllPings()
        case 37: return ClearReceivedPings()
        case 40...41: return RequestRoleChange(contact: other)
        case 42...43: return AcceptRoleChange(contact: other)
        case 44: return DeclineRoleChange(contact: other)
        case 45: return WithdrawRoleChange(contact: other)
        default:
            return people.randomRelay(of: asker, using: &random)
        }
    }
}

/// The consents that people gave, derived from their commands only.
private struct Consents {
    private var agreed: Set<Ends> = []

    func has(_ seen: AccountID, agreedToBeSeenBy other: AccountID) -> Bool {
        agreed.contains(Ends(from: seen, to: other))
    }

    /// Takes in a command that was accepted.
    mutating func take(_ command: any CommandBody, of asker: AccountID, in before: People) {
        func agree(_ seen: AccountID, _ other: AccountID) { agreed.insert(Ends(from: seen, to: other)) }
        func revoke(_ seen: AccountID, _ other: AccountID) { agreed.remove(Ends(from: seen, to: other)) }
        switch command {
        case let command as AddContact:
            let byCode = command.code.flatMap { before.rows.owner(of: $0) }
            guard let other = command.contact ?? byCode else { return }
            if command.isMyResponder { agree(asker, other) } else { revoke(asker, other) }
            // Showing a code is consent.
            if byCode != nil, !before.rows.published(other).isApprovalRequired { agree(other, asker) }
        case let command as ApproveContactRequest:
            if command.isMyResponder { agree(asker, command.contact) }
        case let command as AcceptRoleChange: agree(asker, command.contact)
        case let command as UpdateContact:
            if let responder = command.isMyResponder {
                if responder { agree(asker, command.contact) } else { revoke(asker, command.contact) }
            }
            if command.iAmResponder == false { revoke(command.contact, asker) }
        case let command as DeclineContactRequest: end(asker, command.contact)
        case let command as WithdrawContactRequest: end(asker, command.contact)
        case let command as RemoveContact: end(asker, command.contact)
        case let command as BlockContact: end(asker, command.contact)
        case is CloseAccount: agreed = agreed.filter { $0.from != asker && $0.to != asker }
        default: break
        }
    }

    private mutating func end(_ one: AccountID, _ other: AccountID) {
        agreed.subtract([Ends(from: one, to: other), Ends(from: other, to: one)])
    }
}
