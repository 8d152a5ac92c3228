import QuartetVocabulary
import Synchronization

/// Which connections run: that of the account that is shown, and those that have something to send or to tell.
extension DeviceAccounts {
    /// How often the list and the stores are looked at, of which other processes may have made something.
    private static let interval = Outbox.sharingInterval
    /// For how long a push has an account fetch what is new.
    static let newsPatience: Duration = .seconds(30)

    /// Shows what the device has now: who there is, and what was kept for the account that is shown. Needs no network.
    /// - Throws: Why the list can't be read, also if accounts are known from before. ``run()`` tries on.
    public func restore() async throws(AccountListProblem) {
        await time.call { () async in
            await adoptInTime()
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
            group.addTask { await self.watchOthers() }
            group.addTask { await self.keepAdopting() }
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
        // What was learned just before is there at the next start.
        await flush()
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
        let now = time.now()
        let (isRunning, isListed) = state.withLock { state in
            let isCalled = state.called[account].map { now < $0 } ?? false
            // Where the list can't be read, it may say so.
            return (
                state.shown == account || state.leaving.contains(account) || isCalled,
                state.current.has(account) || state.problem != nil
            )
        }
        if isRunning || connection.outbox.isWaiting { return .running }
        return isListed ? .looking : .nothing
    }

    /// Runs a connection whenever it is needed. The rest of the time what other processes keep in its store is looked for, so that a call
    /// for help is sent whoever is shown here.
    private func keep(_ clients: AccountClients, _ account: AccountID) async {
        let connection = clients.connection
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in connection.outbox.items.values { self.wakes.send(()) } }
            group.addTask { await connection.followNotices() }
            group.addTask {
                for await user in clients.quartet.user.user.values where user.account == account {
                    await self.learn(account, user.handle, user.name)
                }
            }
            while !Task.isCancelled {
                let need = self.need(of: account, connection)
                let turn = Task(executorPreference: time.workplace) { await self.act(need, clients, account) }
                // The next one doesn't wait for a disk on which this one can't end.
                group.addTask {
                    await withTaskCancellationHandler {
                        await turn.value
                    } onCancel: {
                        turn.cancel()
                    }
                }
                repeat {
                    await wait { self.need(of: account, connection) == need }
                    // Once the app may be suspended, the device would tell of what has arrived.
                    if need == .running { await connection.finishTelling(until: time.now() + Connection.wakefulness) }
                } while !Task.isCancelled && self.need(of: account, connection) == need
                turn.cancel()
            }
        }
    }

    private func act(_ need: Need, _ clients: AccountClients, _ account: AccountID) async {
        await withDiscardingTaskGroup { group in
            switch need {
            case .running:
                // An earlier run, which a disk keeps from ending, has the connection until then.
                group.addTask { await clients.connection.outbox.run { clients.connection.requests } }
                group.addTask { await clients.connection.run() }
                group.addTask { await self.endCall(of: account) }
            case .looking: group.addTask { await Self.rest(clients.connection) }
            case .nothing: group.addTask { await Self.end(clients) }
            }
        }
    }

    /// Waits until an account has had its time to fetch what a push didn't carry.
    private func endCall(of account: AccountID) async {
        while let end = state.withLock({ $0.called[account] }) {
            do { try await time.sleep(end) } catch { return }
            update { state in
                if state.called[account] == end { state.called[account] = nil }
            }
        }
    }

    private static func rest(_ connection: Connection) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await connection.keepRestoring() }
            group.addTask { await connection.outbox.heedOthers() }
            group.addTask { await connection.heedForgetting() }
        }
    }

    /// Whoever still has the clients of an account that another process has removed sees nobody's there.
    private static func end(_ clients: AccountClients) async {
        do throws(QuartetError) { try await clients.connection.restore() } catch {}
        clients.store?.closeIfErased()
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
                // Whoever was signed out in another process may be back.
                for clients in opened where clients.connection.store.account == nil {
                    clients.connection.unread.send(())
                }
            }
            await settle()
            if state.withLock({ !$0.pending.isEmpty }) { await flush() }
            let isUnfinished = state.withLock { state in
                !state.pending.isEmpty || !state.due.isEmpty || state.problem != nil
            }
            await time.wait(for: calls, until: shelf.isShared || isUnfinished ? time.now() + Self.interval : nil)
        }
    }

    /// Tries to take over what the app's only account so far kept until that has worked. Nothing else waits for it.
    private func keepAdopting() async {
        while !Task.isCancelled, state.withLock({ !$0.hasAdopted }) {
            await adopt()
            do { try await time.sleep(time.now() + Self.interval) } catch { return }
        }
    }

    /// Looks for what waits in accounts that aren't open. Neither the list nor another process that has the lock holds that up, nor one
    /// account's disk the others.
    private func watchOthers() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let calls = self.calls.subscribe(keeping: 1)
                for account in beginToLook() {
                    group.addTask {
                        await self.look(at: account)
                        self.state.withLock { _ = $0.looking.remove(account) }
                    }
                }
                await time.wait(for: calls, until: shelf.isShared ? time.now() + Self.interval : nil)
            }
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

    /// - Returns: Those that nobody looks at yet.
    private func beginToLook() -> [AccountID] {
        // What waits is sent though the list can't be read.
        let unlisted = list.value.problem == nil ? [] : folders
        return state.withLock { state in
            let listed = state.current.accounts.map(\.account)
            let closed = (listed + unlisted.filter { !listed.contains($0) }).filter { state.opened[$0] == nil }
            return closed.filter { state.looking.insert($0).inserted }
        }
    }

    /// Opens an account that isn't shown if its store has something to send or to say.
    @concurrent
    private func look(at account: AccountID) async {
        let known = state.withLock { $0.looked[account] }
        // The server is to hear of it though the list can't say who is there.
        if known == nil, list.value.problem != nil, (try? holding(of: account)) == .leaving {
            update { _ = $0.leaving.insert(account) }
            _ = open(account)
            return
        }
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
            state.withLock { $0.stopLooking(at: account) }
            return closeStores()
        } catch {
            // Its connection tries until it can be read.
        }
        _ = open(account)
    }
}
