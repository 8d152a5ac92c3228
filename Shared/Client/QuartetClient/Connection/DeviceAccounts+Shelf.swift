import QuartetAPI
import QuartetVocabulary
import Synchronization

/// What becomes of the list and the folders. The tokens say who is signed in; the list says the order, the names and who was shown last.
///
/// Each step is one that a process may be killed after: tokens are written before an account is listed, and a folder that has some and
/// isn't listed is listed later. Signing out changes the tokens first, then marks the folder; one that is marked and has no tokens goes at
/// last. Tokens that aren't found say nothing by themselves: they may be where this process doesn't look.
extension DeviceAccounts {
    /// How long a process waits for another one that has the lock, and may be frozen.
    private static let patience: Duration = .seconds(6)

    // MARK: Signing in

    func admit(_ handle: String?, by account: AccountID?) throws(QuartetError) {
        let listed = list.value.accounts
        guard listed.count >= Self.limit else { return }
        // Somebody who is listed may sign in again.
        let isKnown = handle.map { known(by: $0) != nil } ?? (account.map { list.value[$0] != nil } ?? false)
        guard isKnown else { throw .tooManyAccounts(limit: Self.limit) }
    }

    private func known(by handle: String) -> AccountID? {
        list.value.accounts.first { $0.handle?.lowercased() == handle.lowercased() }?.id
    }

    func lastRefreshToken(of handle: String?, by account: AccountID?) async -> String? {
        guard let known = handle.map({ known(by: $0) }) ?? account else { return nil }
        return try? await open(known).connection.lastRefreshToken
    }

    /// Puts somebody who signed in where their account is, or gets a place, and shows them.
    /// - Parameter choices: ``State/choices`` when they began to. Whoever was chosen since stays on the screen.
    @concurrent
    func enter(_ reply: SignedIn, _ handle: String?, asked: Duration, after choices: Int) async throws(QuartetError) {
        let account = reply.account
        await refresh()
        // Another process that has the lock holds up nobody who signs in.
        let hasRoom = update { state -> Bool in
            let taken = state.entering.union(state.current.accounts.map(\.account))
            guard taken.contains(account) || taken.count < Self.limit else { return false }
            // From here on nobody erases the folder.
            state.left.remove(account)
            state.unmarked.remove(account)
            state.departed.remove(account)
            state.entering.insert(account)
            return true
        }
        guard hasRoom else {
            await turnAway(reply, asked: asked)
            throw .tooManyAccounts(limit: Self.limit)
        }
        do { try shelf.make(account) } catch {
            // Whoever has a place needs nothing of a disk that is full.
            guard (try? shelf.folders())?.contains(account) == true else {
                update { _ = $0.entering.remove(account) }
                throw .notStored("\(error)")
            }
        }
        let clients = open(account)
        do throws(QuartetError) { try await clients.connection.signedIn(reply, asked: asked) } catch {
            update { _ = $0.entering.remove(account) }
            throw error
        }
        // Another process may have marked it meanwhile, which had yet to end a sign-out.
        try? shelf.make(account)
        update { state in
            state.entering.remove(account)
            state.pending.append(.add(account, handle: handle))
            if state.choices == choices {
                state.pending.append(.show(account))
                state.shown = account
            }
            state.leaving.remove(account)
            // Whoever signed out at the same time is found by that.
            if !state.left.contains(account) { state.due.remove(account) }
        }
        await restoreCopies(of: clients)
        await flush()
        calls.send(())
    }

    /// Signs somebody out again for whom there is no room.
    private func turnAway(_ reply: SignedIn, asked: Duration) async {
        let connection = Connection(
            name: "nobody", transport: parts.transport(nil), policy: .disabled, time: time, surroundings: nil)
        do throws(QuartetError) {
            try await connection.signedIn(reply, asked: asked)
            try await SessionClient.live(service: connection).signOut()
        } catch {}
    }

    // MARK: Signing out

    @concurrent
    func noteLeaving(of account: AccountID) async {
        let isEntering = update { state in
            state.left.insert(account)
            let isEntering = state.entering.contains(account)
            // It isn't marked before that has ended.
            if isEntering { state.unmarked.insert(account) } else { state.departed.insert(account) }
            return isEntering
        }
        guard !isEntering else { return }
        // What can't be marked now is marked later.
        do { try shelf.leave(account) } catch { update { _ = $0.unmarked.insert(account) } }
        await forgetFormer(account)
    }

    /// Whoever signs out isn't taken over again, also after a restart: what the app had of them so far goes as well.
    private func forgetFormer(_ account: AccountID) async {
        guard let former = parts.former, state.withLock({ !$0.hasAdopted }) else { return }
        let forgetting = Task(executorPreference: time.workplace) {
            if (try? former.tokens.load())?.account == account { try? former.tokens.save(nil) }
            try? await former.store().forget(account)
        }
        // A disk that takes its time doesn't hold up a sign-out.
        _ = await time.value(of: forgetting, until: time.now() + Outbox.patience)
    }

    func noteSignOut(of account: AccountID) async {
        update { _ = $0.due.insert(account) }
        await hide(account)
        await settle()
        calls.send(())
    }

    /// Whoever has signed out here isn't listed any more, also while the list can't be read or another process has the lock.
    @concurrent
    private func hide(_ account: AccountID) async {
        guard let found = try? holding(of: account), found != .somebody else { return }
        update { state in
            let isOut = found == .leaving || state.left.contains(account)
            guard isOut, !state.entering.contains(account) else { return }
            if found == .leaving { state.leaving.insert(account) } else { state.leaving.remove(account) }
            if state.current.has(account) { state.pending.append(.drop(account)) }
        }
    }

    enum Holding {
        case nothing, somebody
        /// Somebody who signed out, of which the server isn't known to have heard.
        case leaving
    }

    func holding(of account: AccountID) throws -> Holding {
        let folder = folder(of: account)
        do {
            let found = try OwnTokens(store: parts.tokens(folder), account: account).load()
            return found.map { $0.isLeaving ? .leaving : .somebody } ?? .nothing
        } catch is TokensUnreadable {
            // They can sign in again, or remove the account.
            return .somebody
        }
    }

    /// Makes the list and the folders what the tokens say, of those of which that isn't certain.
    func settle() async {
        guard state.withLock({ !$0.due.isEmpty }) else { return }
        await changing { settleNow() }
    }

    /// The caller has the lock. Nothing is decided, and nothing erased, while the list can't be read.
    private func settleNow() {
        let reading = Reading(shelf)
        guard
            update({
                $0.take(reading)
                return $0.problem == nil
            })
        else { return }
        for account in state.withLock({ $0.due }) {
            guard let found = try? holding(of: account) else {
                // An account that can't be asked now is what it was.
                if list.value[account] != nil { update { _ = $0.due.remove(account) } }
                continue
            }
            // What can't be said now isn't so.
            let isMarked = (try? shelf.hasLeft(account)) ?? false
            let (hasLeft, isUnmarked, isEntering) = state.withLock { state in
                let hasLeft = state.left.contains(account)
                return (hasLeft, hasLeft && state.unmarked.contains(account), state.entering.contains(account))
            }
            if isEntering, found == .nothing { continue }
            var isOver = true
            switch found {
            case .somebody:
                // They have signed in again since.
                if isMarked { try? shelf.make(account) }
            case .leaving: _ = open(account)
            case .nothing where isMarked:
                do { try shelf.erase(account) } catch { isOver = false }
                if hasLeft { state.withLock { $0.opened[account]?.store }?.noteOwnErasure() }
            case .nothing where isUnmarked:
                // Somebody who signs in just now is found before it is erased.
                do {
                    try shelf.leave(account)
                    update { _ = $0.unmarked.remove(account) }
                } catch {}
                isOver = false
            // A mark that is gone was taken away by another process, in which somebody signs in.
            case .nothing: break
            }
            let isGone = found == .leaving || found == .nothing && (isMarked || isUnmarked)
            update { state in
                let isListed = state.current.has(account)
                if found == .somebody, !isListed { state.pending.append(.add(account, handle: nil)) }
                if isGone, isListed { state.pending.append(.drop(account)) }
                if found == .leaving { state.leaving.insert(account) } else { state.leaving.remove(account) }
                if isGone { state.stopLooking(at: account) }
                if found == .somebody || found == .nothing && isOver {
                    state.left.remove(account)
                    state.unmarked.remove(account)
                }
                if isOver { state.due.remove(account) }
            }
        }
        closeStores()
        write()
    }

    // MARK: The list

    /// Takes up what other processes have made of it.
    @concurrent
    func refresh() async {
        let stamp = shelf.stamp
        guard state.withLock({ $0.stamp != stamp }) else { return }
        let reading = Reading(shelf)
        update { $0.take(reading) }
    }

    /// Writes what the device doesn't have yet. What can't be written is so all the same, and is written later.
    func flush() async {
        guard state.withLock({ !$0.pending.isEmpty }) else { return }
        await changing { write() }
    }

    /// The caller has the lock.
    private func write() {
        let reading = Reading(shelf)
        let (former, next, count) = update { state -> (AccountListing, AccountListing, Int) in
            state.take(reading)
            // What can't be read isn't replaced.
            return (state.listing, state.current, state.problem == nil ? state.pending.count : 0)
        }
        guard count > 0 else { return }
        if next != former {
            do { try shelf.save(next) } catch { return }
        }
        let stamp = shelf.stamp
        update { state in
            (state.listing, state.stamp) = (next, stamp)
            state.pending.removeFirst(count)
        }
    }

    /// Sets a damaged list aside, and makes another one of the accounts that are there. Nobody is signed out by that.
    /// - Throws: Why the list still can't be read. Does nothing for one that can.
    public func repair() async throws(AccountListProblem) {
        await changing {
            let before = Reading(shelf)
            update { $0.take(before) }
            guard case .damaged? = list.value.problem, let folders = try? shelf.folders() else { return }
            let listed = list.value.accounts.map {
                AccountListing.Entry(account: $0.id, handle: $0.handle, name: $0.name)
            }
            let others = folders.filter { account in
                // One that can't be asked now may be somebody's.
                !listed.contains { $0.account == account } && (try? holding(of: account)) ?? .somebody == .somebody
            }
            var next = AccountListing(accounts: listed, shown: list.shown)
            next.accounts += others.map { AccountListing.Entry(account: $0) }
            do {
                try shelf.setListAside()
                try shelf.save(next)
            } catch { return }
            let after = Reading(shelf)
            update { $0.take(after) }
        }
        if let problem = list.value.problem { throw problem }
    }

    // MARK: The app's only account so far

    /// Takes over what an app kept that had one account, unless that has been done. Killed after any step, or failed at it, it goes on with
    /// the next call: nothing is taken from where it was before it is in its place. Nobody who changes the list or has the lock waits for the
    /// former store.
    @concurrent
    func adopt() async {
        guard let former = parts.former, state.withLock({ !$0.hasAdopted }) else { return }
        do throws(QuartetError) {
            try await adopting.run(isShielded: true) { () async throws(QuartetError) in
                guard state.withLock({ !$0.hasAdopted }) else { return }
                do { try await adopt(former) } catch { throw .notStored("\(error)") }
                update { ($0.hasAdopted, $0.adoptionProblem) = (true, nil) }
            }
            calls.send(())
        } catch {
            update { $0.adoptionProblem = .unavailable("of what the app had so far: \(error)") }
        }
    }

    /// The same, and doesn't wait for a disk that takes its time.
    func adoptInTime() async {
        guard state.withLock({ !$0.hasAdopted }) else { return }
        let work = Task(executorPreference: time.workplace) { await self.adopt() }
        guard await time.value(of: work, until: time.now() + Self.patience) == nil else { return }
        update { state in
            guard !state.hasAdopted, state.adoptionProblem == nil else { return }
            state.adoptionProblem = .unavailable("of what the app had so far: the disk takes its time")
        }
    }

    private func adopt(_ former: FormerAccount) async throws {
        let tokens = try await adoptTokens(of: former)
        let store = try former.store()
        // Also without tokens, which may have been where this version doesn't look, something may wait.
        let waiting = try await store.items()
        let listed = state.withLock { $0.current.accounts.map(\.account) }
        var (owners, isEmpty) = (Set(waiting.keys).union(listed), waiting.isEmpty)
        switch tokens {
        case .missing: break
        case .unreadable: isEmpty = false
        case .found(let account):
            owners.insert(account)
            isEmpty = false
        }
        for account in owners where !state.withLock({ $0.departed.contains(account) }) {
            if try await carry(account, from: store) { isEmpty = false }
        }
        guard !isEmpty else { return }
        // The new connections tell what is so, under their own names.
        for account in owners { await parts.surroundings(account)?.withdraw(allBut: [], of: former.name) }
        try await store.forgetOthers(than: nil)
    }

    private enum FormerTokens: Sendable {
        case missing
        /// What waits is sent once its person has signed in again.
        case unreadable
        case found(AccountID)

        init(_ tokens: any TokenStore, _ adopt: (Credentials) throws -> Void = { _ in }) throws {
            let found: Credentials?
            do { found = try tokens.load() } catch is TokensUnreadable {
                self = .unreadable
                return
            }
            if let found { try adopt(found) }
            self = found.map { .found($0.account) } ?? .missing
        }
    }

    /// Before all else: whoever is signed in can call for help though nothing else can be taken over, and doesn't come back by that once
    /// they have signed out.
    private func adoptTokens(of former: FormerAccount) async throws -> FormerTokens {
        if case .missing = try FormerTokens(former.tokens) { return .missing }
        let found = try await writing.run(isShielded: true) { () async throws(QuartetError) -> FormerTokens in
            guard let lock = await self.lock() else { throw .notStored("another process has the accounts") }
            defer { withExtendedLifetime(lock) {} }
            do {
                // Whoever had the lock before may have taken them over, and their person may have signed out since.
                return try FormerTokens(former.tokens) { try adopt($0) }
            } catch { throw .notStored("\(error)") }
        }
        if case .found(let account) = found, (try? holding(of: account)) == .leaving {
            // What they left isn't theirs any more.
            try await former.store().forget(account)
        }
        // Without the lock: they may be in the same folder, and take a lock of their own there.
        try former.tokens.save(nil)
        return found
    }

    private func adopt(_ credentials: Credentials) throws {
        let account = credentials.account
        guard !state.withLock({ $0.departed.contains(account) }) else { return }
        let own = OwnTokens(store: parts.tokens(folder(of: account)), account: account)
        var known: Credentials?
        do { known = try own.load() } catch is TokensUnreadable {}
        // Those that are there may be newer.
        if known?.isLeaving != true { try shelf.make(account) }
        if known == nil { try own.save(credentials) }
        update { state in
            guard !(known ?? credentials).isLeaving else {
                _ = state.due.insert(account)
                return
            }
            if !state.current.has(account) { state.pending.append(.add(account, handle: nil)) }
            guard state.shown == nil else { return }
            state.pending.append(.show(account))
            state.shown = account
        }
        write()
    }

    /// Moves what a store has of an account to its folder.
    /// - Returns: Whether there was anything.
    private func carry(_ account: AccountID, from store: any LocalStore) async throws -> Bool {
        let first = try await store.load(account)
        guard !first.items.isEmpty || !first.copies.isEmpty else { return false }
        let isNew = try !shelf.folders().contains(account)
        if isNew { try shelf.make(account) }
        let own = parts.store(folder(of: account))
        // Whoever signs out from here on has their folder erased under this store, which notices.
        let known = try await own.load(account)
        // Whoever has signed out before, while this process was frozen, has nothing there any more.
        let kept = try await store.load(account)
        guard !kept.items.isEmpty || !kept.copies.isEmpty else {
            // Another process may have carried it meanwhile: then it is in the folder, and nobody has signed out.
            let there = try await own.load(account)
            if isNew, there.items.isEmpty, there.copies.isEmpty, case .nothing = try holding(of: account),
                !state.withLock({ $0.entering.contains(account) })
            {
                try shelf.leave(account)
                update { _ = $0.due.insert(account) }
            }
            return false
        }
        var missing = kept.items.filter { item in !known.items.contains { $0.id == item.id } }
        for index in missing.indices where !missing[index].isOver && missing[index].key.id == nil {
            // However often it is carried, it is one request to the server.
            _ = missing[index].key.minted(at: missing[index].actedAtServer ?? missing[index].acted)
            try await store.save(missing[index], of: account)
        }
        for item in missing {
            if let shared = own as? any MultiprocessStore {
                _ = try await shared.add(StoreAddition(item), of: account)
            } else {
                try await own.save(item, of: account)
            }
        }
        for item in kept.items { try await store.remove(item.id, of: account) }
        let copies = kept.copies.filter { copy in !known.copies.contains { $0.sequence == copy.sequence } }
        do { try await own.save(copies, finishing: [], of: account) } catch is OutdatedCopy {}
        return true
    }

    // MARK: The lock

    /// Changes the shelf. Where another process has it for too long, or the disk can't, nothing happens, and whoever runs tries again.
    @concurrent
    private func changing(_ body: @Sendable () -> Void) async {
        // Nothing in it fails, and nobody who waits gives up.
        try? await writing.run(isShielded: true) { () async throws(QuartetError) in
            guard let lock = await self.lock() else { return }
            defer { withExtendedLifetime(lock) {} }
            body()
        }
    }

    /// - Returns: Nil if somebody keeps it, or the disk can't say.
    private func lock() async -> AccountLock? {
        let end = time.now() + Self.patience
        while true {
            do { if let lock = try shelf.lock() { return lock } } catch { return nil }
            // Whoever is cancelled doesn't wait any more, and tries this once.
            guard time.now() < end, !Task.isCancelled else { return nil }
            do { try await time.sleep(time.now() + .milliseconds(20)) } catch { return nil }
        }
    }
}
