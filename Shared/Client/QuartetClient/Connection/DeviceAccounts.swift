public import Foundation
import QuartetAPI
import QuartetSessionContract
public import QuartetVocabulary
import Synchronization

/// One of the accounts on a device, for a chooser.
public struct DeviceAccount: Hashable, Identifiable, Sendable {
    public let id: AccountID
    /// Nil until it is known of somebody who signed in by phone.
    public let handle: String?
    public let name: String?
}

/// The accounts on a device, as every part of an app reads them.
public struct DeviceAccountList: Hashable, Sendable {
    /// In the order in which they were added. Somebody whom the server signed out stays, with what waits to be sent, and can sign in again.
    public let accounts: [DeviceAccount]
    /// Whose screens this process shows; nil for nobody's. No other process changes that, unless the account is signed out there.
    public let shown: AccountID?
    /// Why the list can't be read, or what the app kept so far of its only account; nil if all can. What was known before is still there.
    public let problem: AccountListProblem?
    /// How many accounts have clients by now: readers of what all of them have hear of another one.
    let opened: Int

    public subscript(id: AccountID) -> DeviceAccount? { accounts.first { $0.id == id } }
}

/// The connection of one account, and its clients. They are this account's for good.
public struct AccountClients: Sendable {
    /// Nil for those of nobody, with which somebody signs in.
    public let account: AccountID?
    public let connection: Connection
    public let quartet: Quartet
    /// Nil for one that isn't in a folder.
    let store: LateStore?
}

/// An urgent change that wasn't sent, and whose it was.
public struct AccountUnsentChange: Hashable, Sendable {
    /// As it was listed last; it may have been removed since.
    public let owner: DeviceAccount
    public let change: UnsentChange

    public var account: AccountID { owner.id }
}

/// What an app kept that had one account so far, with a ``Connection`` of its own, which isn't made any more.
public struct FormerAccount: Sendable {
    let tokens: any TokenStore
    let name: String
    let store: @Sendable () throws -> any LocalStore

    /// - Parameters:
    ///   - tokens: What the account was signed in with. They are there until they are in their new place.
    ///   - name: What its connection was called: notifications that the device shows of that one's changes are withdrawn.
    ///   - store: Opens the account's store, at each start of the app. It is empty once it has been taken over.
    public init(
        tokens: any TokenStore, name: String = "default", store: @escaping @Sendable () throws -> any LocalStore
    ) {
        (self.tokens, self.name, self.store) = (tokens, name, store)
    }
}

/// Several accounts in one app: which there are, which one is shown, and for each a folder, a connection and clients of its own.
///
/// It takes the place of the app's ``Connection``. It holds the clients of each account that is open, from when that is first shown or has
/// something to send until the app ends; so what waits is sent whoever is shown, and clients that a feature holds stay good.
public final class DeviceAccounts: Sendable {
    /// More can't be signed in at the same time.
    public static let limit = 8

    /// What the connections are made of.
    struct Parts: Sendable {
        var transport: @Sendable (AccountID?) -> any Transport
        var tokens: @Sendable (AccountFolder) -> any TokenStore
        var store: @Sendable (AccountFolder) -> any LocalStore
        var policy = ReconnectionPolicy.forever
        var time: Timekeeper
        var surroundings: @Sendable (AccountID) -> (any Surroundings)? = { _ in nil }
        var former: FormerAccount?
    }

    struct State: Sendable {
        /// As the device has it.
        var listing = AccountListing()
        var problem: AccountListProblem?
        /// What the shelf said when it was read.
        var stamp: String?
        /// Whether it was ever read.
        var isRead = false
        /// Changes that the device doesn't have yet.
        var pending: [AccountListChange] = []
        var shown: AccountID?
        /// Counts how often somebody chose whom to show.
        var choices = 0
        var opened: [AccountID: AccountClients] = [:]
        /// Those that were listed since the app was started, as they were listed last.
        var known: [AccountID: DeviceAccount] = [:]
        /// The server isn't known to have heard of these sign-outs.
        var leaving: Set<AccountID> = []
        /// What is in these folders may not be what the list says.
        var due: Set<AccountID> = []
        /// These have signed out in this process, and their folders may be there.
        var left: Set<AccountID> = []
        /// Somebody is just signing in to these, whose tokens aren't there yet: they aren't taken for signed out.
        var entering: Set<AccountID> = []
        /// Of those who have left, these have folders that couldn't be marked.
        var unmarked: Set<AccountID> = []
        /// These have signed out in this process, and nobody has signed in to them since: nothing is taken over for them.
        var departed: Set<AccountID> = []
        /// A push had these run until then.
        var called: [AccountID: Duration] = [:]
        /// Whether nothing is left of the app's only account so far.
        var hasAdopted = false
        /// Why that can't be taken over yet.
        var adoptionProblem: AccountListProblem?
        /// What was found in the stores of accounts that aren't open.
        var looked: [AccountID: Look] = [:]
        /// Stores at which nobody looks any more. To close one may take its time, which isn't done with the lock.
        var closing: [any LocalStore] = []
        /// Those at which somebody is just looking.
        var looking: Set<AccountID> = []

        /// Takes up the list as it is now. One that can't be read changes nothing of what is known.
        mutating func take(_ reading: Reading) {
            do throws(AccountListProblem) {
                if let found = try reading.listing.get() {
                    listing = found
                } else if !listing.accounts.isEmpty {
                    throw .damaged("it isn't there any more")
                }
                // A device that was locked at the start may show by now whom it showed last.
                if !isRead { shown = shown ?? listing.shown }
                (problem, stamp, isRead) = (nil, reading.stamp, true)
            } catch {
                (problem, stamp) = (error, nil)
            }
        }

        mutating func stopLooking(at account: AccountID) {
            if let look = looked.removeValue(forKey: account) { closing.append(look.store) }
        }

        var current: AccountListing { pending.reduce(into: listing) { $1.apply(to: &$0) } }

        var published: DeviceAccountList {
            let current = current
            return DeviceAccountList(
                accounts: current.accounts.map { DeviceAccount(id: $0.account, handle: $0.handle, name: $0.name) },
                shown: shown, problem: problem ?? adoptionProblem, opened: opened.count)
        }
    }

    /// What the device says of the list, which is asked while nobody waits for ``state``.
    struct Reading: Sendable {
        let stamp: String
        let listing: Result<AccountListing?, AccountListProblem>

        init(_ shelf: any AccountShelf) {
            // Before the list: what changes meanwhile is read the next time.
            stamp = shelf.stamp
            do throws(AccountListProblem) { listing = .success(try shelf.list()) } catch { listing = .failure(error) }
        }
    }

    struct Look: Sendable {
        let store: any LocalStore
        /// Nil for a store that no other process has.
        let version: Int64?
    }

    let shelf: any AccountShelf
    let parts: Parts
    let state: Mutex<State>
    /// Observable as all shared state.
    public let list: SharedState<DeviceAccountList>
    /// Has one of this process's tasks change the shelf at a time, each when its turn has come.
    let writing = Lane()
    /// Has one of this process's tasks take over what the app's only account so far kept.
    let adopting = Lane()
    let running = Lane()
    /// What is to run may be another than before.
    let wakes = Broadcast<Void>()
    /// Something is to be written.
    let calls = Broadcast<Void>()
    /// Over this somebody signs in while nobody is shown. Nobody's data is ever in it.
    private let door: Connection

    var time: Timekeeper { parts.time }

    // MARK: Making it

    /// Reads which accounts there are. ``restore()`` and ``run()`` try again if that fails.
    ///
    /// ```swift
    /// let accounts = DeviceAccounts(
    ///     in: folder, transport: { HTTPTransport(server) }, store: { try DatabaseStore($0.url.appending(path: "state")) })
    /// ```
    /// - Parameters:
    ///   - folder: For this alone. Any number of processes may have it.
    ///   - transport: Makes one for each account, so that no account's requests wait for another's.
    ///   - tokens: Makes the store of an account's tokens, as often as it is asked: all that it makes for an account have the same. Two
    ///     accounts never share one; what it has of another account isn't used.
    ///   - surroundings: Makes those of an account, whose words can say which account they are about.
    ///   - former: What an app that had one account kept. It is taken over by ``restore()``, ``run()`` or ``raiseAlert()``, whichever
    ///     comes first, and again until that has worked; ``DeviceAccountList/problem`` says why it hasn't.
    ///   - store: Opens an account's store when it is needed first. If that fails, it is asked again, and what is urgent is sent from memory.
    public convenience init(
        in folder: URL, transport: @escaping @Sendable () -> any Transport,
        tokens: @escaping @Sendable (AccountFolder) -> any TokenStore = {
            FileTokenStore($0.url.appending(path: "tokens"))
        },
        policy: ReconnectionPolicy = .forever, time: Timekeeper = .live,
        surroundings: @escaping @Sendable (AccountID) -> (any Surroundings)? = { _ in Connection.systemSurroundings },
        adopting former: FormerAccount? = nil,
        store: @escaping @Sendable (AccountFolder) throws -> any MultiprocessStore
    ) {
        self.init(
            FolderShelf(root: folder),
            Parts(
                transport: { _ in transport() }, tokens: tokens,
                store: { folder in LateStore(in: folder.url) { try store(folder) } }, policy: policy, time: time,
                surroundings: surroundings, former: former))
    }

    /// Accounts in memory, for tests and previews: everything is forgotten when the process ends.
    public convenience init(inMemory transport: @escaping @Sendable () -> any Transport, time: Timekeeper = .live) {
        let kept = Mutex<[AccountID: InMemoryTokenStore]>([:])
        self.init(
            keeping: MemoryShelf(), transport: { _ in transport() },
            tokens: { folder in
                kept.withLock { kept in
                    let store = kept[folder.account] ?? InMemoryTokenStore()
                    kept[folder.account] = store
                    return store
                }
            }, store: { _ in InMemoryLocalStore() }, time: time)
    }

    /// Accounts of a test's device.
    package convenience init(
        keeping shelf: MemoryShelf, transport: @escaping @Sendable (AccountID?) -> any Transport,
        tokens: @escaping @Sendable (AccountFolder) -> any TokenStore,
        store: @escaping @Sendable (AccountFolder) -> any LocalStore, time: Timekeeper
    ) {
        self.init(shelf, Parts(transport: transport, tokens: tokens, store: store, time: time))
    }

    init(_ shelf: any AccountShelf, _ parts: Parts) {
        self.shelf = shelf
        self.parts = parts
        var first = State()
        first.hasAdopted = parts.former == nil
        first.take(Reading(shelf))
        Self.hideUnlisted(&first)
        list = SharedState(first.published, .ready)
        state = Mutex(first)
        door = Connection(
            name: "nobody", transport: parts.transport(nil), policy: .disabled, time: parts.time, surroundings: nil)
        door.home.withLock { $0 = AccountHome(accounts: self, account: nil) }
        if let shown = list.shown { _ = open(shown) }
    }

    // MARK: Who there is

    /// The clients of the account that is shown, or those of nobody, with which somebody can sign in, and call for help as whoever is signed in
    /// on the device. They are those that ``clients(of:)`` gives, whenever they are asked for.
    public var current: AccountClients { list.shown.map { open($0) } ?? nobody }

    private var nobody: AccountClients {
        var quartet = Quartet.live(door)
        // Whoever has the device in their hand asks for help: it goes out as somebody who is signed in on it.
        quartet.user.raiseAlert = { [weak self] () async throws(QuartetError) in
            guard let self else { throw .needsAuthentication }
            try await self.raiseAlert()
        }
        return AccountClients(account: nil, connection: door, quartet: quartet, store: nil)
    }

    /// Nil if the account isn't listed.
    public func clients(of account: AccountID) -> AccountClients? {
        list.value[account] == nil ? nil : open(account)
    }

    /// Shows another account, or nobody's, from when it is called. What the former one still has to send is sent while
    /// ``run()`` runs. Which one is shown is kept for the next start.
    /// - Throws: ``QuartetError/needsAuthentication`` if it isn't listed.
    public func show(_ account: AccountID?) async throws(QuartetError) {
        try await time.call { () async throws(QuartetError) in
            guard account.map({ list.value[$0] != nil }) ?? true else { throw .needsAuthentication }
            let clients = account.map { open($0) }
            guard choose(account) else { throw .needsAuthentication }
            if let clients { await restoreCopies(of: clients) }
            await flush()
            calls.send(())
        }
    }

    /// - Returns: False if the account isn't listed.
    func choose(_ account: AccountID?) -> Bool {
        update { state -> Bool in
            guard account.map({ state.current.has($0) }) ?? true else { return false }
            state.shown = account
            state.pending.append(.show(account))
            state.choices += 1
            return true
        }
    }

    var choices: Int { state.withLock { $0.choices } }

    /// Those that are open: shown since the app was started, or found to have something to send or to say. One that was removed meanwhile is
    /// among them.
    public var opened: [AccountClients] {
        state.withLock { Array($0.opened) }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Signs an account out and erases its folder. Changes of it that wait aren't sent: ``unsent`` has cards of the urgent ones. Without a
    /// network it isn't listed either from now on, and ``run()`` tells the server later.
    /// - Throws: ``QuartetError/needsAuthentication`` if it isn't listed; else what ``SessionClient/signOutLocally`` throws, after which it
    ///   may be listed: then call it again.
    public func remove(_ account: AccountID) async throws(QuartetError) {
        try await time.call { () async throws(QuartetError) in
            guard let clients = clients(of: account) else { throw .needsAuthentication }
            // What waits can be said only if it was read.
            await restoreCopies(of: clients)
            do throws(QuartetError) { try await clients.quartet.session.signOut() } catch .signOutUntold {
                throw .signOutUntold
            } catch {
                try await clients.quartet.session.signOutLocally()
            }
        }
    }

    // MARK: What is about any of them

    /// Has an account show what a push for it says, whichever is shown; see ``NotificationsClient/handle(_:)``. While ``run()`` runs, what a push
    /// didn't carry is fetched over the account's own connection. An extension calls it without running anything.
    /// - Returns: Whom it is for: say so where another account is shown.
    /// - Throws: ``QuartetError/needsAuthentication`` if the push is for somebody who isn't signed in here.
    @discardableResult
    public func handle(_ push: QuartetPush) async throws(QuartetError) -> DeviceAccount {
        try await time.call { () async throws(QuartetError) -> DeviceAccount in
            let account = push.account
            let entry =
                list.value[account]
                ?? (folders.contains(account) ? DeviceAccount(id: account, handle: nil, name: nil) : nil)
            guard let entry else { throw .needsAuthentication }
            if case .news = push {
                update { $0.called[account] = time.now() + Self.newsPatience }
            }
            try await open(account).quartet.notifications.handle(push)
            return entry
        }
    }

    /// Calls for help as the account that is shown, or else as another one that is signed in on the device, also where the list can't be
    /// read: for a widget, an intent, or a button that has to work whatever is shown.
    /// - Throws: As ``UserClient/raiseAlert``; ``QuartetError/needsAuthentication`` if nobody is signed in.
    public func raiseAlert() async throws(QuartetError) { try await raiseAlert(insteadOf: nil) }

    /// - Parameters:
    ///   - former: Who can't.
    ///   - held: What is kept of theirs.
    private func raiseAlert(insteadOf former: AccountID?, _ held: HeldAlert? = nil) async throws(QuartetError) {
        try await time.call { () async throws(QuartetError) -> Void in
            var held = [held].compactMap(\.self)
            do throws(QuartetError) { try await raiseAlert(insteadOf: former, &held) } catch {
                // One is kept until somebody can send it: that of the first who was asked.
                let isKept = error.isPending
                for other in held.dropFirst(isKept ? 0 : 1) { await other.takeBack() }
                switch error {
                case .needsAuthentication, .tokensUnavailable: throw held.first?.error ?? error
                default: throw error
                }
            }
            for other in held { await other.takeBack() }
        }
    }

    /// - Parameter held: What is kept of those who can't, to which others are added.
    private func raiseAlert(insteadOf former: AccountID?, _ held: inout [HeldAlert]) async throws(QuartetError) {
        var tried = Set([former].compactMap(\.self))
        // Of somebody who is on the screen nothing need be read.
        if let shown = list.value.shown, !tried.contains(shown) {
            let connection = open(shown).connection
            if connection.isKnownSignedIn {
                if try await Self.raised(over: connection, &held) { return }
                tried.insert(shown)
            }
        }
        // A disk that takes its time doesn't hold it up, nor does what the app had so far keep it from whoever is there by now.
        let looking = Task(executorPreference: time.workplace) {
            await self.refresh()
            return self.folders
        }
        var folders = await time.value(of: looking, until: time.now() + Outbox.patience) ?? []
        if state.withLock({ !$0.hasAdopted }) {
            let adopting = Task(executorPreference: time.workplace) {
                await self.adopt()
                // Another process may have been quicker.
                await self.refresh()
                return self.folders
            }
            folders += await time.value(of: adopting, until: time.now() + Outbox.patience) ?? []
        }
        let value = list.value
        let listed = [value.shown].compactMap(\.self) + value.accounts.map(\.id)
        let unlisted = folders.filter { !listed.contains($0) }
        var trouble = QuartetError.needsAuthentication
        // Whoever was signed in may be in what isn't there yet.
        if state.withLock({ !$0.hasAdopted }) {
            trouble = .tokensUnavailable("what the app had so far can't be taken over yet")
        }
        for account in listed + unlisted where tried.insert(account).inserted {
            let connection = open(account).connection
            do throws(QuartetError) {
                if try await isSignedIn(connection), try await Self.raised(over: connection, &held) { return }
            } catch {
                // Whoever is shown may be signed in, and nobody else asks for help in their place.
                guard case .tokensUnavailable = error, account != value.shown else { throw error }
                trouble = error
            }
        }
        throw trouble
    }

    /// - Throws: ``QuartetError/tokensUnavailable(_:)`` if the device can't say that in time.
    private func isSignedIn(_ connection: Connection) async throws(QuartetError) -> Bool {
        if connection.isKnownSignedIn { return true }
        let reading = Task(executorPreference: time.workplace) { () -> Result<Bool, QuartetError> in
            do throws(QuartetError) {
                return .success(try await Requests.reading { try await connection.credentials } != nil)
            } catch {
                return .failure(error)
            }
        }
        guard let found = await time.value(of: reading, until: time.now() + Outbox.patience) else {
            throw .tokensUnavailable("the disk takes its time")
        }
        return try found.get()
    }

    /// A call for help of somebody whom the server has signed out: nobody sends it before they sign in again.
    private struct HeldAlert: Sendable {
        let connection: Connection
        /// It, and each that was made before.
        let items: [OutboxItem.ID]
        let error: QuartetError

        /// Another one has taken its place. What its person makes later stays.
        func takeBack() async {
            let taking = Task(executorPreference: connection.time.workplace) {
                await withDiscardingTaskGroup { group in
                    // Each is out of memory, or held back, before the disk is asked.
                    for id in items { group.addTask { _ = try? await connection.outbox.cancel(id) } }
                }
            }
            // Whoever asks for help doesn't wait for a disk on which that hangs.
            _ = await connection.time.value(of: taking, until: connection.time.now() + Outbox.patience)
        }
    }

    /// - Returns: False if its account is signed out, and nothing was sent.
    private static func raised(
        over connection: Connection, _ held: inout [HeldAlert]
    ) async throws(QuartetError) -> Bool {
        let raiseAlert = UserClient.live(service: connection).raiseAlert
        return try await raised(over: connection, &held) { () async throws(QuartetError) in try await raiseAlert() }
    }

    private static func raised(
        over connection: Connection, _ held: inout [HeldAlert], _ raiseAlert: () async throws(QuartetError) -> Void
    ) async throws(QuartetError) -> Bool {
        let former = Set(connection.outbox.unsent.value.map(\.id))
        let waiting = Set(connection.outbox.items.value.map(\.id))
        do throws(QuartetError) {
            try await raiseAlert()
            return true
        } catch .needsAuthentication {
            // Its person may have signed out while it was on its way.
            let isSent = connection.outbox.unsent.value.contains { $0.reason == .unknown && !former.contains($0.id) }
            if isSent { throw .needsAuthentication }
            return false
        } catch  where error.isPending && !connection.isKnownSignedIn {
            let made = connection.outbox.items.value.filter {
                $0.command == RaiseAlert.type && !waiting.contains($0.id)
            }
            // What the server may know isn't asked for twice.
            guard !made.isEmpty, made.allSatisfy(\.canCancel) else { throw error }
            let calls = connection.outbox.items.value.filter { $0.command == RaiseAlert.type && $0.canCancel }
            held.append(HeldAlert(connection: connection, items: calls.map(\.id), error: error))
            return false
        }
    }

    /// The cards of all accounts that are open, with those of accounts that were removed since the app started; see ``Outbox/unsent``. Show
    /// them whichever account is shown, with its name.
    public var unsent: [AccountUnsentChange] {
        // Read for its observers.
        _ = list.value
        return opened.flatMap { clients -> [AccountUnsentChange] in
            guard let account = clients.account else { return [] }
            let known = state.withLock { $0.known[account] } ?? list.value[account]
            let owner = known ?? DeviceAccount(id: account, handle: nil, name: nil)
            return clients.connection.outbox.unsent.value.map { AccountUnsentChange(owner: owner, change: $0) }
        }
    }

    /// Somebody has read of a change that wasn't sent.
    public func markRead(_ card: AccountUnsentChange) async throws(QuartetError) {
        guard let clients = state.withLock({ $0.opened[card.account] }) else { return }
        try await clients.connection.outbox.markRead(card.change.id)
    }

    /// Call it when the app comes to the foreground; see ``Connection/wake()``.
    public func wake() { for clients in opened { clients.connection.wake() } }

    /// Call it when the device has another network; see ``Connection/networkChanged()``.
    public func networkChanged() { for clients in opened { clients.connection.networkChanged() } }

    // MARK: Opening

    /// The clients of an account, which are made when they are asked for first. Nothing of the disk is asked for that.
    func open(_ account: AccountID) -> AccountClients {
        if let clients = state.withLock({ $0.opened[account] }) { return clients }
        let folder = folder(of: account)
        let store = parts.store(folder)
        let connection = Connection(
            name: "\(account)", transport: parts.transport(account),
            tokens: OwnTokens(store: parts.tokens(folder), account: account), store: store,
            policy: parts.policy, time: time, surroundings: parts.surroundings(account))
        connection.home.withLock { $0 = AccountHome(accounts: self, account: account) }
        // All clients are there before anything of what the device kept is shown.
        var quartet = Quartet.live(connection)
        let raiseAlert = quartet.user.raiseAlert
        quartet.user.raiseAlert = { [weak self] () async throws(QuartetError) in
            var held: [HeldAlert] = []
            let isRaised = try await Self.raised(over: connection, &held) { () async throws(QuartetError) in
                try await raiseAlert()
            }
            if isRaised { return }
            // It was signed out, perhaps by another process or by the server, while its screen was still there.
            guard let self else { throw held.first?.error ?? .needsAuthentication }
            try await self.raiseAlert(insteadOf: account, held.first)
        }
        let made = AccountClients(
            account: account, connection: connection, quartet: quartet, store: store as? LateStore)
        let clients = update { state -> AccountClients in
            // Somebody else may have been quicker, and nothing has happened to these yet.
            let clients = state.opened[account] ?? made
            state.opened[account] = clients
            state.stopLooking(at: account)
            return clients
        }
        closeStores()
        return clients
    }

    /// Closes the stores at which nobody looks any more, where nobody waits for that.
    func closeStores() {
        guard state.withLock({ !$0.closing.isEmpty }) else { return }
        Task(executorPreference: time.workplace) { [weak self] in
            let closing = self?.state.withLock { state in
                defer { state.closing = [] }
                return state.closing
            }
            withExtendedLifetime(closing) {}
        }
    }

    /// Whether an account has certainly signed out.
    func hasLeft(_ account: AccountID) -> Bool { (try? shelf.hasLeft(account)) ?? false }

    func folder(of account: AccountID) -> AccountFolder {
        AccountFolder(account: account, url: shelf.url(of: account))
    }

    /// Shows what the device kept for an account. What can't be read now is read later by its connection.
    func restoreCopies(of clients: AccountClients) async {
        do throws(QuartetError) { try await clients.quartet.session.restore() } catch {}
    }

    /// Changes what is known, and says it to whoever reads that.
    func update<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, notify) = state.withLock { state -> (Value, @Sendable () -> Void) in
            let value = body(&state)
            Self.hideUnlisted(&state)
            let published = state.published
            for account in published.accounts { state.known[account.id] = account }
            return (value, list.replace(published, .ready))
        }
        notify()
        wakes.send(())
        return value
    }

    private static func hideUnlisted(_ state: inout State) {
        if let shown = state.shown, !state.current.has(shown) { state.shown = nil }
    }

    /// Whose folders there are; none where that can't be read.
    var folders: [AccountID] { (try? shelf.folders()) ?? [] }
}

/// The accounts among which a connection's is one.
struct AccountHome: Sendable {
    weak let accounts: DeviceAccounts?
    /// Nil for nobody's.
    let account: AccountID?

    /// Whether the connection's person has certainly signed out: tokens that aren't found may be where this process doesn't look.
    var hasLeft: Bool { account.flatMap { accounts?.hasLeft($0) } ?? true }

    /// Looks whether there is room for somebody, before the server is asked.
    func admit(_ handle: String?) throws(QuartetError) { try accounts?.admit(handle, by: account) }

    /// What shows that the device was signed in to the account of this handle before.
    func lastRefreshToken(of handle: String?) async -> String? {
        await accounts?.lastRefreshToken(of: handle, by: account)
    }

    /// What was chosen before somebody begins to sign in.
    var choices: Int { accounts?.choices ?? 0 }

    /// Somebody has signed in, who may be another one than the connection's.
    func enter(_ reply: SignedIn, _ handle: String?, asked: Duration, after choices: Int) async throws(QuartetError) {
        guard let accounts else { throw .notConfigured("The device's accounts") }
        try await accounts.enter(reply, handle, asked: asked, after: choices)
    }

    /// The connection's person is signing out: from now on the folder may be erased, unless somebody signs in.
    func noteLeaving() async {
        if let account { await accounts?.noteLeaving(of: account) }
    }

    /// The connection's person has signed out, or the server has heard of it.
    func noteSignOut() async {
        if let account { await accounts?.noteSignOut(of: account) }
    }
}

extension Connection {
    /// Whether somebody is signed in, as far as that is known without asking the device.
    fileprivate var isKnownSignedIn: Bool {
        (store.account ?? store.unreadAccount) != nil && !core.withLock { $0.machine.isSignedOut } && !outbox.isBlocked
    }
}
