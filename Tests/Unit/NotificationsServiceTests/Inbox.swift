import ContractSupport
import NotificationsContract
import NotificationsRules
import StoreKit
import TestKit
import Testing
import Vocabulary

/// One whole set of tables, and what each account would see who folded its stream from its beginning.
struct Inbox {
    var rows = NotificationsRows()
    var time: Instant
    private(set) var replicas: [AccountID: NotificationsState] = [:]
    private var closed: Set<AccountID> = []
    /// Every command that was sent, and how it ended.
    private(set) var history: [(command: any CommandBody, context: CommandContext, ended: Ended)] = []
    private var random: SeededRandom

    typealias Ended = Result<[Emission<NotificationsEvent>], Rejection>

    init(seed: UInt64 = 1, time: Instant = Instant(microseconds: 1_700_000_000_000_000)) {
        self.time = time
        random = SeededRandom(seed: seed)
    }

    mutating func id<Subject>() -> ID<Subject> { .derived(at: time, from: Array("\(random.next())".utf8)) }

    mutating func person() throws -> AccountID {
        let account: AccountID = id()
        try ask(account, OpenAccount())
        return account
    }

    /// Tells an account something new; returns its name.
    @discardableResult
    mutating func tell(
        _ account: AccountID, _ kind: NotificationKind = .pingReceived, about subject: AccountID? = nil
    ) throws -> NotificationID {
        let id: NotificationID = id()
        try ask(account, DeliverNotification(id: id, kind: kind, subject: subject))
        return id
    }

    /// Registers a device of an account; returns its id.
    @discardableResult
    mutating func register(_ account: AccountID, token: String? = nil) throws -> PushDeviceID {
        let device: PushDeviceID = id()
        let token = token ?? "token-of-\(device)"
        try ask(account, RegisterPush(device: device, token: token, platform: .ios))
        return device
    }

    /// Sends a command, takes in its events, and checks what every command must keep to.
    @discardableResult
    mutating func ask(_ account: AccountID?, _ body: any CommandBody) throws -> [NotificationsEvent] {
        let before = rows
        let command = try NotificationsCommand(sent: body)
        let context = CommandContext(
            commandID: id(), account: account, key: .account(account ?? AccountID(high: 0, low: 0)), time: time)
        let emissions: [Emission<NotificationsEvent>]
        do throws(Rejection) {
            emissions = try NotificationsReducer.reduce(&rows, command, context)
            history.append((body, context, .success(emissions)))
        } catch {
            history.append((body, context, .failure(error)))
            try #require(rows == before, "a rejected command must leave the rows as they were")
            throw error
        }
        if emissions.isEmpty {
            var after = rows
            // When the history is next looked at is the owner's business alone, so nothing is said of it.
            if let command = body as? ForgetOldNotifications {
                after.accounts[command.account]?.forgetting = before.accounts[command.account]?.forgetting
            }
            // So is what is held back.
            after.held = before.held
            try #require(after == before, "what says nothing must change nothing")
        }
        for emission in emissions {
            let stream = emission.event.account
            try #require(emission.key == .account(stream) && !closed.contains(stream))
            let read = try NotificationsEvent(published: emission.event)
            try #require(read == emission.event)
            replicas[stream, default: NotificationsState(account: stream)].apply(read)
            if case .notificationsClosed = read { closed.insert(stream) }
        }
        return emissions.map(\.event)
    }

    mutating func rejection(_ account: AccountID?, _ command: any CommandBody) throws -> Rejection.Code? {
        do {
            try ask(account, command)
            return nil
        } catch let rejection as Rejection {
            return rejection.code
        }
    }

    func state(_ account: AccountID) -> NotificationsState { rows.published(account) }
    mutating func pass(_ interval: Interval) { time = time + interval }
}
