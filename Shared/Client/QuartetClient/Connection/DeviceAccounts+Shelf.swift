public import Foundation
import QuartetAPI
public import QuartetVocabulary
import Synchronization

/// What becomes of the list and the folders. The tokens say who is signed in; the list says the order, the names and who was shown last.
///
/// Each step is one that a process may be killed after: tokens are written before an account is listed, and a folder that has some and
/// isn't listed is listed later. Signing out changes the tokens first, then the list, and a folder without tokens is erased at last.
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
    @concurrent
    func enter(_ reply: SignedIn, _ handle: String?, asked: Duration) async throws(QuartetError) {
        let account = reply.account
        let clients = open(account)
        try await writing.run(isShielded: true) { () async throws(QuartetError) in
            // Whoever has it for so long is frozen, and somebody has to be able to sign in.
            let lock = await self.lock()
            defer { withExtendedLifetime(lock) {} }
            await refresh()
            let listed = list.value
            guard listed[account] != nil || listed.accounts.count < Self.limit else {
                await turnAway(reply, asked: asked)
                throw .tooManyAccounts(limit: Self.limit)
            }
            do { try shelf.make(account) } catch {
                // Whoever has a place needs nothing of a disk that is full.
                guard (try? shelf.folders())?.contains(account) == true else { throw .notStored("\(error)") }
            }
            try await clients.connection.signedIn(reply, asked: asked)
            update { state in
                state.pending += [.add(account, handle: handle), .show(account)]
                state.shown = account
                state.leaving.remove(account)
                state.due.remove(account)
            }
            if lock != nil { write() }
        }
        await restoreCopies(of: clients)
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

    func noteSignOut(of account: AccountID) async {
        update { _ = $0.due.insert(account) }
        await settle()
        calls.send(())
    }

    private enum Holding {
        case nothing, somebody
        /// Somebody who signed out, of which the server isn't known to have heard.
        case leaving
    }

    private func holding(of account: AccountID) throws -> Holding {
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
            var isOver = true
            if found == .nothing {
                do { try shelf.erase(account) } catch { isOver = false }
                state.withLock { $0.opened[account]?.store }?.noteOwnErasure()
            }
            if found == .leaving { _ = open(account) }
            update { state in
                let isListed = state.current.has(account)
                if found == .somebody, !isListed { state.pending.append(.add(account, handle: nil)) }
                if found != .somebody, isListed { state.pending.append(.drop(account)) }
                if found == .leaving { state.leaving.insert(account) } else { state.leaving.remove(account) }
                if found != .somebody { state.looked[account] = nil }
                if isOver { state.due.remove(account) }
            }
        }
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

    /// Takes over what an app kept that had one account, with a connection of its own: call it when the app starts, before anything else
    /// uses either. Interrupted, it goes on at the next start.
    /// - Parameters:
    ///   - tokens: What that account was signed in with. They are there until all the rest has been taken over.
    ///   - file: The `DatabaseStore`'s. It keeps its name, so it has to be that of the new store.
    /// - Returns: Whose it was; nil if nobody was signed in.
    @concurrent
    @discardableResult
    public func adopt(_ tokens: any TokenStore, store file: URL) async throws(QuartetError) -> AccountID? {
        let former: Credentials?
        do { former = try tokens.load() } catch {
            // Nobody is signed in by what is damaged.
            if error is TokensUnreadable { return nil }
            throw .tokensUnavailable("\(error)")
        }
        guard let former else { return nil }
        let folder = folder(of: former.account)
        try await writing.run(isShielded: true) { () async throws(QuartetError) in
            guard let lock = await self.lock() else { throw .notStored("another process changes the accounts") }
            defer { withExtendedLifetime(lock) {} }
            do {
                try shelf.make(former.account)
                try Self.move(file, into: folder.url)
                let own = OwnTokens(store: parts.tokens(folder), account: former.account)
                // It was interrupted before, and these may be newer.
                if try own.load() == nil { try own.save(former) }
                try tokens.save(nil)
            } catch { throw .notStored("\(error)") }
            update { state in
                guard !former.isLeaving else {
                    _ = state.due.insert(former.account)
                    return
                }
                state.pending.append(.add(former.account, handle: nil))
                guard state.shown == nil else { return }
                state.pending.append(.show(former.account))
                state.shown = former.account
            }
            write()
        }
        return former.account
    }

    /// Moves a store's file, and what belongs to it under longer names.
    private static func move(_ file: URL, into folder: URL) throws {
        let (former, name) = (file.deletingLastPathComponent(), file.lastPathComponent)
        for found in try FileManager.default.contentsOfDirectory(atPath: former.path).sorted()
        where found == name || found.hasPrefix("\(name)-") || found.hasPrefix("\(name).") {
            let next = folder.appending(path: found)
            guard !FileManager.default.fileExists(atPath: next.path) else { continue }
            try FileManager.default.moveItem(at: former.appending(path: found), to: next)
        }
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
