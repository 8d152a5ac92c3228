import ContactsContract
import ContactsRules
import ContractSupport
import StoreKit
import TestKit
import Testing
import Vocabulary

/// People in one whole set of tables, and what each would see who folded their stream from its beginning.
struct People {
    var rows = ContactsRows()
    var time = Instant(microseconds: 1_700_000_000_000_000)
    private(set) var replicas: [AccountID: ContactsState] = [:]
    private(set) var log: [Emission<ContactsEvent>] = []
    /// Alarms that are on, as session would have it.
    var alarmsOn: [AlarmKey: AlarmID] = [:]
    /// Every command that was sent, and how it ended.
    private(set) var history: [(command: any CommandBody, context: CommandContext, ended: Ended)] = []
    private var random: SeededRandom

    typealias Ended = Result<[Emission<ContactsEvent>], Rejection>

    init(seed: UInt64 = 1) {
        random = SeededRandom(seed: seed)
        rows.limits.pingCooldown = .seconds(10)
    }

    mutating func id<Subject>() -> ID<Subject> { .derived(at: time, from: Array("\(random.next())".utf8)) }

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

    /// Sends a command, takes in its events, and checks what every command must keep to.
    @discardableResult
    mutating func ask(_ account: AccountID?, _ body: any CommandBody) throws -> [ContactsEvent] {
        let before = rows
        let command = try ContactsCommand(sent: body)
        let context = CommandContext(
            commandID: id(), account: account, key: .account(account ?? AccountID(high: 0, low: 0)), time: time)
        let emissions: [Emission<ContactsEvent>]
        do throws(Rejection) {
            emissions = try ContactsReducer.reduce(&rows, command, context)
            history.append((body, context, .success(emissions)))
        } catch {
            history.append((body, context, .failure(error)))
            try #require(rows == before, "a rejected command must leave the rows as they were")
            throw error
        }
        if emissions.isEmpty { try #require(rows == before, "what says nothing must change nothing") }
        if let first = emissions.first { try #require(first.key == .account(try #require(account))) }
        for emission in emissions {
            let stream = emission.event.account
            try #require(emission.key == .account(stream))
            if !log.contains(where: { $0.event.isClosing(of: stream) }) || emission.event.isClosing(of: stream) {
            } else {
                Issue.record("\(emission.event) came after its stream's end")
            }
            try #require(try emission.event.body.encoded().count <= Message.bodyLimit)
            let read = try ContactsEvent(published: emission.event)
            try #require(read == emission.event)
            replicas[stream, default: ContactsState(account: stream)].apply(read)
            log.append(emission)
        }
        return emissions.map(\.event)
    }

    /// The code with which a command is rejected.
    mutating func rejection(_ account: AccountID?, _ command: any CommandBody) throws -> Rejection.Code? {
        do {
            try ask(account, command)
            return nil
        } catch let rejection as Rejection {
            return rejection.code
        }
    }

    func contact(_ account: AccountID, _ other: AccountID) -> Contact? { rows.published(account).contacts[other] }

    mutating func pass(_ interval: Interval) { time = time + interval }
}

extension ContactsEvent {
    func isClosing(of account: AccountID) -> Bool {
        if case .contactsClosed(let event) = self { event.account == account } else { false }
    }
}
