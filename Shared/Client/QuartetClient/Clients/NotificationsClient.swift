import Foundation
import QuartetAPI
public import QuartetNotificationsContract
public import QuartetVocabulary

// This file alone holds an app's copy of the notifications, shows it to readers, and replaces it.

/// An account's notifications, as this device knows them.
///
/// Only ``NotificationsClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyNotificationsState: Hashable, Sendable {
    private var state: NotificationsState?

    fileprivate init(_ state: NotificationsState?) {
        self.state = state
    }

    /// The newest ones that weren't cleared, newest first.
    public var notifications: [QuartetNotification] {
        state?.notifications.filter { $0.cleared == nil } ?? []
    }
    /// The newest ones, including cleared ones.
    public var history: [QuartetNotification] { state?.notifications ?? [] }
    /// As the server counts them: over the whole history, of which this device has the newest.
    public var unreadCount: Int { state?.unread ?? 0 }
    public var hasUnread: Bool { unreadCount > 0 }
    public var unreadNotifications: [QuartetNotification] { history.filter(\.isUnread) }
    public var scheduled: [ScheduledNotification] { state.map { Array($0.scheduled) } ?? [] }

    /// What the person will be reminded of, the soonest first.
    public var reminders: [ScheduledNotification] {
        scheduled.filter(\.details.isReminder).sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }

    public func notification(by id: NotificationID) -> QuartetNotification? {
        history.first { $0.id == id }
    }
}

/// Follows the notifications, and is the only one who changes what readers see of them.
private final class NotificationsCopy: KeptConsumer {
    let sequences: Set<StreamName> = [.notifications]
    let holder = ReplicaHolder<NotificationsState, ReadOnlyNotificationsState> { ReadOnlyNotificationsState($0) }
    /// With the texts of reminders.
    static let format = 1

    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<NotificationsState>? {
        switch event {
        case .snapshot(_, let snapshot):
            let state = try JSONDecoder().decode(NotificationsState.self, from: Data(snapshot.state))
            return StreamChange { $0.replace(state, opening: opening) }
        case .resumed:
            return StreamChange { $0.resume(opening: opening) }
        case .event(_, let event):
            guard let change = try event.decoded(as: NotificationsEvent.self) else { return nil }
            return StreamChange { replica in replica.apply(causedBy: event.command) { $0.apply(change) } }
        case .begun, .groupEnded, .groups, .person, .personEnded, .signal: return nil
        }
    }
}

extension Connection {
    /// When the newest ping was sent that a notification tells of, be it in a push.
    var newestPingNotification: Instant? {
        let all = madeCopy(NotificationsCopy.self)?.holder.state?.notifications ?? []
        return all.filter { $0.kind == .pingReceived }.compactMap(\.details.at).max()
    }
}

/// Changes the notifications. What features read is ``notifications``; these are the only ways to change it.
public struct NotificationsClient: Sendable {
    public typealias Action<Input> = @Sendable (Input) async throws(QuartetError) -> Void
    public typealias PlainAction = @Sendable () async throws(QuartetError) -> Void

    /// What every feature reads.
    public var notifications: SharedState<ReadOnlyNotificationsState>
    public var markRead: Action<NotificationID>
    /// Marks those that this device shows, and earlier ones. What comes later stays unread, however late this is sent, but for a
    /// server of 0.1.0, which marks all.
    public var markAllRead: PlainAction
    /// Without `ids`, `kinds` and `occurredBy` it is about what this device shows and earlier, however late this is sent; and about
    /// nothing if it shows nothing.
    public var clear: Action<NotificationSelection>
    /// Says that one got a drill: its person sees that, and when. Nothing else tells them.
    public var answerDrill: Action<NotificationID>
    /// Has the person reminded of something. It is among the state's ``ReadOnlyNotificationsState/reminders`` at once, until a notification says it.
    /// One that is kept while there is no network is refused if it is sent only after its time.
    public var scheduleReminder: Action<ScheduleReminder>
    /// Takes a reminder back.
    /// - Returns: Whether it was still open: not one that has come, or that another device has taken back.
    public var cancelReminder: @Sendable (NotificationID) async throws(QuartetError) -> Bool
    /// The app has shown them on this device: operators learn who was reached.
    public var show: Action<[NotificationID]>
    public var registerPush: Action<RegisterPushRequest>
    public var unregisterPush: PlainAction
    /// See ``handle(push:)``.
    public var handlePush: Action<PushMessage>
    /// A push told this account of something that it didn't carry. See ``handle(_:)``.
    public var handleNews: Action<AccountID>

    /// Shows what a push says at once, without network, and has the server record that this device showed it, as soon as it can be
    /// reached. What else has happened is fetched by the connection; the push stays until that has arrived.
    /// Where this device has never loaded the notifications, nothing shows before it has.
    ///
    /// An extension calls it without running a connection.
    /// - Throws: ``QuartetError/needsAuthentication`` if the push is for another account than the one that is signed in.
    public func handle(push: PushMessage) async throws(QuartetError) { try await handlePush(push) }

    /// Does what follows from a push. What carries its notification is shown and recorded as ``handle(push:)`` says. For one
    /// that doesn't, a connection that runs is woken and fetches it; it shows once that has arrived, and nothing is made up before. A test
    /// changes nothing.
    /// - Throws: ``QuartetError/needsAuthentication`` if the push is for another account than the one that is signed in.
    public func handle(_ push: QuartetPush) async throws(QuartetError) {
        switch push {
        case .notification(let message): try await handlePush(message)
        case .news(let account): try await handleNews(account)
        case .test: break
        }
    }
}

extension NotificationsClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let copy = service.copy { NotificationsCopy() }
        let handleNews: Action<AccountID> = { account async throws(QuartetError) in
            try await service.restore()
            guard service.store.account == account else { throw .needsAuthentication }
            service.wake()
        }
        return client(copy, .live(.notifications, service, copy.holder), handleNews: handleNews) {
            push, record async throws(QuartetError) in
            try await handleNews(push.account)
            do throws(QuartetError) { try await record() } catch {
                // It is kept, and sent when that is possible.
                guard error.isPending else { throw error }
            }
        }
    }

    /// Notifications that live in memory: every change is made at once and never refused.
    public static func preview(_ notifications: NotificationsState) -> Self {
        let copy = NotificationsCopy()
        copy.holder.change { $0.replace(notifications, opening: 0) }
        let handleNews: Action<AccountID> = { _ in }
        return client(copy, Commands(.notifications, holder: copy.holder), handleNews: handleNews) {
            _, record async throws(QuartetError) in
            try await record()
        }
    }

    /// - Parameters:
    ///   - handleNews: As the endpoint.
    ///   - handlePush: Is given what shows and records a push.
    private static func client(
        _ copy: NotificationsCopy, _ commands: Commands<NotificationsEdit, ReadOnlyNotificationsState>,
        handleNews: @escaping Action<AccountID>,
        handlePush:
            @escaping @Sendable (PushMessage, _ record: PlainAction) async throws(QuartetError) -> Void
    ) -> Self {
        func action<Input: Sendable>(_ edit: @escaping @Sendable (Input) -> NotificationsEdit) -> Action<Input> {
            { input async throws(QuartetError) in try await commands.send(edit(input)) }
        }
        func action(_ edit: NotificationsEdit) -> PlainAction {
            { () async throws(QuartetError) in try await commands.send(edit) }
        }
        return Self(
            notifications: copy.holder.shared, markRead: action { .markRead($0) },
            markAllRead: { () async throws(QuartetError) in
                // Nobody has read what isn't shown.
                guard let newest = copy.holder.state?.notifications.map(\.created).max() else { return }
                try await commands.send(.markAllRead(upTo: newest))
            },
            clear: { selection async throws(QuartetError) in
                var selection = selection
                // A selection of kinds with a time takes back what isn't delivered yet, too: that is for the server's own.
                if selection.ids == nil, selection.kinds == nil, selection.occurredBy == nil {
                    guard let newest = copy.holder.state?.notifications.map(\.created).max() else { return }
                    selection.occurredBy = newest
                }
                try await commands.send(.clear(selection))
            },
            answerDrill: action { .answerDrill($0) },
            scheduleReminder: action { .scheduleReminder($0) },
            cancelReminder: { id async throws(QuartetError) in
                let isOpen = copy.holder.state?.scheduled[id] != nil
                let reply = try await commands.send(.cancelReminder(id))
                return reply.map { $0.event != nil } ?? isOpen
            },
            show: { ids async throws(QuartetError) in try await commands.send(.show(ids, at: commands.now)) },
            registerPush: action { .registerPush($0) }, unregisterPush: action(.unregisterPush),
            handlePush: { push async throws(QuartetError) in
                try await handlePush(push) { () async throws(QuartetError) in
                    try await commands.send(.receive(push.notification, unread: push.unread, at: commands.now))
                }
            }, handleNews: handleNews)
    }

    /// Every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        func fail<Input>(_ endpoint: String) -> Action<Input> {
            { _ async throws(QuartetError) in throw error("NotificationsClient.\(endpoint)") }
        }
        func failPlainly(_ endpoint: String) -> PlainAction {
            { () async throws(QuartetError) in throw error("NotificationsClient.\(endpoint)") }
        }
        return Self(
            notifications: NotificationsCopy().holder.shared, markRead: fail("markRead"),
            markAllRead: failPlainly("markAllRead"), clear: fail("clear"),
            answerDrill: fail("answerDrill"), scheduleReminder: fail("scheduleReminder"),
            cancelReminder: { _ async throws(QuartetError) in throw error("NotificationsClient.cancelReminder") },
            show: fail("show"),
            registerPush: fail("registerPush"), unregisterPush: failPlainly("unregisterPush"),
            handlePush: fail("handlePush"), handleNews: fail("handleNews"))
    }
}

/// What a person wants changed.
private enum NotificationsEdit: ClientEdit {
    case markRead(NotificationID)
    /// Nil if 0.1.0 kept it.
    case markAllRead(upTo: Instant?)
    case clear(NotificationSelection)
    case answerDrill(NotificationID)
    case scheduleReminder(ScheduleReminder)
    case cancelReminder(NotificationID)
    case show([NotificationID], at: Instant)
    /// A push that showed it.
    case receive(QuartetNotification, unread: Int, at: Instant)
    case registerPush(RegisterPushRequest)
    case unregisterPush

    var command: any AppCommandBody {
        switch self {
        case .markRead(let id): MarkRead(id: id)
        case .markAllRead(let upTo): MarkAllRead(upTo: upTo)
        case .clear(let selection): ClearNotifications(selection: selection)
        case .answerDrill(let id): AnswerDrill(id: id)
        case .scheduleReminder(let command): command
        case .cancelReminder(let id): CancelReminder(id: id)
        case .show(let ids, let time): ShowNotificationsRequest(ids: ids, shown: time)
        case .receive(let notification, _, let time): ShowNotificationsRequest(ids: [notification.id], shown: time)
        case .registerPush(let request): request
        case .unregisterPush: UnregisterPushRequest()
        }
    }

    func show(in state: inout NotificationsState, at time: Instant) {
        switch self {
        case .markRead(let id):
            let unread = state.unread(without: { $0.id == id })
            state.apply(
                .notificationRead(NotificationRead(account: state.account, id: id, at: time, unread: unread)))
        case .answerDrill(let id):
            let unread = state.unread(without: { $0.id == id })
            state.apply(.drillAnswered(DrillAnswered(account: state.account, id: id, at: time, unread: unread)))
        case .scheduleReminder(let command):
            // One that was delivered isn't to come any more.
            guard !state.notifications.contains(where: { $0.id == command.id }) else { return }
            state.apply(
                .notificationScheduled(NotificationScheduled(account: state.account, scheduled: command.scheduled)))
        case .cancelReminder(let id):
            state.apply(
                .scheduledNotificationCancelled(
                    ScheduledNotificationCancelled(account: state.account, id: id, at: time)))
        case .markAllRead(let upTo):
            let later = state.notifications.count { $0.isUnread && $0.created > upTo ?? $0.created }
            state.apply(
                .allNotificationsRead(
                    AllNotificationsRead(account: state.account, upTo: upTo, at: time, unread: later)))
        case .clear(let selection):
            let unread = state.unread(without: selection.matches)
            state.apply(
                .notificationsCleared(
                    NotificationsCleared(
                        account: state.account, selection: selection, count: 0, at: time, unread: unread)))
        case .receive(let notification, let unread, _):
            // What the server has of it, such as that it was read, is newer than the push.
            guard !state.notifications.contains(where: { $0.id == notification.id }) else { return }
            state.apply(
                .notificationDelivered(
                    NotificationDelivered(
                        account: state.account, notification: notification, unread: max(unread, state.unread))))
        case .show, .registerPush, .unregisterPush: break
        }
    }

    func isPart(of state: NotificationsState) -> Bool {
        switch self {
        // A push may be quicker than the stream, and its command brings no event where another device has shown it.
        case .receive(let notification, _, _): state.notifications.contains { $0.id == notification.id }
        // An hour after it was set, its command brings no event any more when it is sent again, and that may be before a snapshot comes.
        case .scheduleReminder(let command):
            state.scheduled[command.id]?.details.isReminder == true
                || state.notifications.contains { $0.id == command.id }
        default: true
        }
    }
}

extension NotificationsState {
    /// How many are unread when these no longer are.
    fileprivate func unread(without isMeant: (QuartetNotification) -> Bool) -> Int {
        max(0, unread - notifications.count { $0.isUnread && isMeant($0) })
    }
}
