import QuartetVocabulary
import Synchronization

/// Which connections run: that of the account that is shown, and those that have something to send or to tell.
extension DeviceAccounts {
    /// How often the list and the stores are looked at, of which other processes may have made something.
    private static let interval = Outbox.sharingInterval

    /// Shows what the device has now: who there is, and what was kept for the account that is shown. Needs no network.
    /// - Throws: Why the list can't be read, also if accounts are known from before. ``run()`` tries on.
    public func restore() async throws(AccountListProblem) {
        await time.call { () async in
            await refresh()
            if let shown = list.shown { await restoreCopies(of: open(shown)) }
            noteFolders()
            await settle()
        }
        if let problem = list.value.problem { throw problem }
    }

    /// Connects the account that is shown, whichever that is, and sends what any account has to send, until the task is cancelled. A second
    /// call at the same time waits until the first has ended, and goes on.
    public func run() async {
        // Fails only for a task that is cancelled while it waits.
        try? await running.run { () async throws(QuartetError) in await runNow() }
    }

    private func runNow() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watch() }
            var kept: Set<AccountID> = []
            while !Task.isCancelled {
                let news = wakes.subscribe(keeping: 1)
                if let shown = list.shown { _ = open(shown) }
                for clients in opened {
                    guard let account = clients.account, kept.insert(account).inserted else { continue }
                    group.addTask { await self.keep(clients, account) }
                }
                await time.wait(for: news, until: nil)
            }
        }
    }

    // MARK: One account

    private enum Need {
        /// It is shown, or has something to send or to tell.
        case running
        /// Another process may keep something.
        case looking
        case nothing
    }

    private func need(of account: AccountID, _ connection: Connection) -> Need {
        let (isRunning, isListed) = state.withLock { state in
            (state.shown == account || state.leaving.contains(account), state.current.has(account))
        }
        if isRunning || !connection.outbox.items.value.isEmpty { return .running }
        return isListed ? .looking : .nothing
    }

    /// Runs a connection whenever it is needed. The rest of the time what other processes keep in its store is looked for, so that a call
    /// for help is sent whoever is shown here.
    private func keep(_ clients: AccountClients, _ account: AccountID) async {
        let connection = clients.connection
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in connection.outbox.items.values { self.wakes.send(()) } }
            group.addTask {
                for await user in clients.quartet.user.user.values where user.account == account {
                    await self.learn(account, user.handle, user.name)
                }
            }
            while !Task.isCancelled {
                let need = self.need(of: account, connection)
                await withDiscardingTaskGroup { turn in
                    switch need {
                    case .running: turn.addTask { await connection.run() }
                    case .looking: turn.addTask { await Self.rest(connection) }
                    case .nothing: break
                    }
                    await wait { self.need(of: account, connection) == need }
                    turn.cancelAll()
                }
            }
        }
    }

    private static func rest(_ connection: Connection) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await connection.keepRestoring() }
            group.addTask { await connection.outbox.heedOthers() }
        }
    }

    /// - Parameter isSame: Asked whenever something has changed.
    private func wait(while isSame: () -> Bool) async {
        while !Task.isCancelled {
            let news = wakes.subscribe(keeping: 1)
            guard isSame() else { return }
            await time.wait(for: news, until: nil)
        }
    }

    /// Has the list say what an account is called by now.
    private func learn(_ account: AccountID, _ handle: String?, _ name: String?) async {
        guard let entry = list.value[account], entry.handle != handle || entry.name != name else { return }
        update { $0.pending.append(.describe(account, handle: handle, name: name)) }
        calls.send(())
    }

    // MARK: All accounts

    /// Heeds what other processes do, and writes what couldn't be written.
    private func watch() async {
        var stamp: String?
        while !Task.isCancelled {
            let calls = self.calls.subscribe(keeping: 1)
            await refresh()
            let now = shelf.stamp
            if now != stamp {
                stamp = now
                noteFolders()
            }
            await settle()
            if state.withLock({ !$0.pending.isEmpty }) { await flush() }
            await lookAtOthers()
            let isUnfinished = state.withLock { !$0.pending.isEmpty || !$0.due.isEmpty || $0.problem != nil }
            await time.wait(for: calls, until: shelf.isShared || isUnfinished ? time.now() + Self.interval : nil)
        }
    }

    /// What is in any folder may not be what the list says.
    func noteFolders() {
        let listed = state.withLock { $0.current.accounts.map(\.account) }
        // What can't be listed now is looked at once it can.
        let folders = (try? shelf.folders()) ?? []
        // Another process may have told the server of those who left.
        update { $0.due.formUnion(listed + folders + $0.leaving) }
    }

    private func lookAtOthers() async {
        let (known, new) = state.withLock { state -> ([AccountID], [AccountID]) in
            let closed = state.current.accounts.map(\.account).filter { state.opened[$0] == nil }
            return (closed.filter { state.looked[$0] != nil }, closed.filter { state.looked[$0] == nil })
        }
        await withDiscardingTaskGroup { group in
            for account in known { group.addTask { await self.look(at: account) } }
            // To open a store may take its time: one after the other.
            for account in new { await look(at: account) }
        }
    }

    /// Opens an account that isn't shown if its store has something to send or to say.
    @concurrent
    private func look(at account: AccountID) async {
        let known = state.withLock { $0.looked[account] }
        let store = known?.store ?? parts.store(folder(of: account))
        do {
            let (version, isEmpty): (Int64?, Bool)
            if let shared = store as? any MultiprocessStore {
                let now = try await shared.version()
                guard known?.version != now else { return }
                (version, isEmpty) = (now, try await shared.changes(of: account).items.isEmpty)
            } else {
                guard known == nil else { return }
                (version, isEmpty) = (nil, try await store.load(account).items.isEmpty)
            }
            if isEmpty { return state.withLock { $0.looked[account] = Look(store: store, version: version) } }
        } catch is ForgottenAccount {
            // It is looked at anew if it is still listed.
            return state.withLock { $0.looked[account] = nil }
        } catch {
            // Its connection tries until it can be read.
        }
        _ = open(account)
    }
}
