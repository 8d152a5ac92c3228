import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

extension Connection {
    /// Sends requests of whoever is signed in now, and refuses to go on after the next sign-in or sign-out.
    var requests: Requests {
        let count = core.withLock { $0.accountCount }
        return Requests(
            transport: transport, tokens: tokens, clock: clock, time: time,
            account: store.account ?? store.unreadAccount,
            isCurrent: { [weak self] in self?.core.withLock { $0.accountCount } == count },
            onSignedOut: { [weak self] in self?.signedOut($0, ifAccountCount: count) })
    }

    /// Sends a client's change by way of the outbox.
    func send(
        _ edit: Data, _ command: any AppCommandBody, from queue: some EditQueue, show: (OutboxItem) -> Void
    ) async throws(QuartetError) -> CommandReply {
        guard transport != nil else { throw .notConfigured("The server") }
        return try await time.call { () async throws(QuartetError) -> CommandReply in
            let limit = time.now() + Outbox.patience
            let former = try await account(for: command, by: limit)
            do throws(QuartetError) {
                let reply = try await send(edit, command, of: former, from: queue, by: limit, show: show)
                if let reply { return reply }
            } catch {
                guard command is RaiseAlert, error.isPending || error == .needsAuthentication, await isGone(former)
                else {
                    throw error
                }
            }
            // Another process of the app has signed out, and perhaps in again, while this one did nothing. A call for help goes out as
            // whoever is signed in on the device: the person who has it in their hand asks for help. All else is about somebody's own.
            let secondLimit = time.now() + Outbox.patience
            try await dropForgotten(for: command, by: secondLimit)
            let account = try await account(for: command, by: secondLimit)
            guard account == former || command is RaiseAlert,
                let reply = try await send(edit, command, of: account, from: queue, by: secondLimit, show: show)
            else { throw .needsAuthentication }
            return reply
        }
    }

    /// Whether another process has signed somebody out.
    private func isGone(_ account: AccountID) async -> Bool {
        if store.isForgotten { return true }
        return (try? await credentials).map { $0.account != account } ?? false
    }

    /// Who is signed in, with what the device kept for them.
    private func account(for command: any AppCommandBody, by limit: Duration) async throws(QuartetError) -> AccountID {
        // What was kept is taken in before anything new, so that nothing new is taken for made before it could be read.
        if store.account == nil || (!outbox.isRestored && store.unreadAccount == nil) {
            let isUrgent = type(of: command).isUrgent
            do throws(QuartetError) {
                if isUrgent { try await restore(by: limit) } else { try await restore() }
            } catch {
                unread.send(())
                // A call for help is sent from memory where the device can't read what it kept, or not yet.
                guard isUrgent, (store.account ?? store.unreadAccount) != nil else { throw error }
            }
        }
        guard let account = store.account ?? store.unreadAccount else { throw .needsAuthentication }
        return account
    }

    /// - Returns: Nil if the account is gone, and nothing was kept.
    private func send(
        _ edit: Data, _ command: any AppCommandBody, of account: AccountID, from queue: some EditQueue,
        by limit: Duration, show: (OutboxItem) -> Void
    ) async throws(QuartetError) -> CommandReply? {
        let isRunning = core.withLock { $0.work != nil }
        let stream = queue.stream
        if !isRunning { notices?.noteWhatIsThere() }
        let sent: Result<CommandReply?, QuartetError>
        do throws(QuartetError) {
            let reply = try await outbox.send(
                edit, command, of: account, from: queue, isRunning ? nil : requests,
                isConnected: !isRunning || stateNow.isConnected, keptBy: limit, show: show
            ) {
                guard !self.copies.hasKept(stream) else { return }
                self.keepCopies(self.time.now(), atOnce: true)
                await self.copies.finish()
            }
            sent = .success(reply)
        } catch {
            sent = .failure(error)
        }
        // A process that runs no connection may end with the call.
        if !isRunning, let telling = notices?.update() {
            _ = await time.value(of: telling, until: time.now() + Outbox.patience)
        }
        do throws(QuartetError) { return try sent.get() } catch {
            // While nothing runs, nobody else hears of it. What was to be sent later is erased.
            guard !isRunning, store.isForgotten else { throw error }
            try? await dropForgotten(for: command, by: time.now() + Outbox.patience)
            throw error.isPending ? .needsAuthentication : error
        }
    }

    /// Ends with the sign-outs of other processes, until the task is cancelled.
    func heedForgetting() async {
        let forgets = store.forgets.subscribe(keeping: 1) { store.isForgotten ? () : nil }
        for await _ in forgets { await endForgotten() }
    }

    /// Another process of the app has signed out, and has erased the account. Somebody may have signed in there since.
    private func endForgotten() async {
        await dropForgotten()
        await takeUp()
    }

    /// Goes on with whoever is signed in by now.
    func takeUp() async {
        do throws(QuartetError) { try await restore() } catch {
            unread.send(())
            // Whoever signed in is connected also where what is theirs can't be read.
            guard (try? await credentials) != nil else { return }
            comeBack()
        }
    }

    /// Drops what is here of an account that another process has erased.
    private func dropForgotten() async {
        try? await entering.run(isShielded: true) { () async throws(QuartetError) in
            try await dropIfChanged()
        }
    }

    /// The same for a command that goes on as whoever is signed in.
    /// - Parameter limit: Until when something urgent waits for whoever has ``entering``, and reads or writes what the account has.
    private func dropForgotten(for command: any AppCommandBody, by limit: Duration) async throws(QuartetError) {
        guard type(of: command).isUrgent else { return await dropForgotten() }
        let dropping = Task(executorPreference: time.workplace) { await self.dropForgotten() }
        guard await time.value(of: dropping, until: limit) == nil, let tokens else { return }
        let last = try await Requests.reading { try await tokens.last }
        guard let former = store.account ?? store.unreadAccount,
            store.isForgotten || last?.account != former || last?.isLeaving == true, await dropFormer(former)
        else { return }
        guard let last, !last.isSignedOut else { throw .needsAuthentication }
        // What is still being read isn't shown once somebody else is expected.
        store.expect(last.account)
    }

    /// Drops what is here of an account that isn't the device's any more. The caller has ``entering``, or goes on without it.
    /// - Parameter former: Whose, as far as its caller has found; nil for nobody's.
    /// - Returns: False if somebody else's is here by now: a call for help doesn't wait for the others who drop it.
    @discardableResult
    private func dropFormer(_ former: AccountID?) async -> Bool {
        guard former == store.account ?? store.unreadAccount else { return false }
        await tokens?.dropAccess(of: former)
        guard former == store.account ?? store.unreadAccount else { return false }
        signedOut(.signedOut(.signedOut))
        reset()
        notices?.withdrawKnown()
        copies.forget()
        store.close()
        core.withLock { $0.hasDropped = true }
        show(nil)
        return true
    }

    /// Delivers these sequences to a copy from now on.
    func attach(_ consumer: any StreamConsumer) {
        let isOpen = core.withLock { core in
            core.consumers.append(consumer)
            for name in consumer.sequences { core.sequencer.forget(name) }
            return core.machine.state.isConnected || core.machine.state.isTransitioning
        }
        // A stream that is open has said how these sequences begin.
        if isOpen {
            change { machine, now, _ in machine.attached(now: now) }
            forgetTime()
            outbox.retry()
        }
    }

    /// Has the stream follow a group session, for these copies of it.
    /// - Throws: If it follows as many as it can.
    func follow(_ group: GroupID, for consumers: [any StreamConsumer]) throws(QuartetError) {
        let isThere = core.withLock { core in
            guard core.followed[group] != nil || core.followed.count < Self.groupLimit else { return false }
            core.followed[group, default: 0] += 1
            core.consumers += consumers
            // Copies that come later need the whole state.
            core.sequencer.forget(.group(group))
            return true
        }
        guard isThere else { throw .refused(APIError(.tooManyGroups)) }
        change { machine, now, _ in machine.follow(now: now) }
    }

    /// Ends ``follow(_:for:)``.
    func unfollow(_ group: GroupID, for consumers: [any StreamConsumer]) {
        let isLast = core.withLock { core in
            core.consumers.removeAll { one in consumers.contains { $0 === one } }
            let count = (core.followed[group] ?? 1) - 1
            core.followed[group] = count > 0 ? count : nil
            return count <= 0
        }
        if isLast { change { machine, now, _ in machine.follow(now: now) } }
    }

    /// Has a sequence begin with a snapshot.
    func refetch(_ name: StreamName) {
        core.withLock { $0.sequencer.forget(name) }
        change { machine, now, _ in machine.follow(now: now) }
    }

    /// How many group sessions one stream can follow.
    private static var groupLimit: Int { 8 }

    /// Shows what the device kept for whoever is signed in, once.
    /// - Parameter isShielded: Whether it goes on for a caller that is cancelled.
    func restore(isShielded: Bool = false) async throws(QuartetError) {
        try await entering.run(isShielded: isShielded) { () async throws(QuartetError) in try await restoreNow() }
    }

    /// The same for something urgent, also if the caller is cancelled.
    /// - Parameter limit: Until when that waits for the disk. By then it is known whose data is read.
    private func restore(by limit: Duration) async throws(QuartetError) {
        let restoring = Task(executorPreference: time.workplace) { () -> Result<Void, QuartetError> in
            do throws(QuartetError) { return .success(try await self.restore(isShielded: true)) } catch {
                return .failure(error)
            }
        }
        if let restored = await time.value(of: restoring, until: limit) { return try restored.get() }
        if (store.account ?? store.unreadAccount) == nil {
            let signedIn = try await Requests.reading { try await self.credentials }
            guard let signedIn else { throw .needsAuthentication }
            store.expect(signedIn.account)
        }
        throw .notStored("the disk takes its time")
    }

    /// Tries to read what the device kept until that works, as long as the connection runs.
    func keepRestoring() async {
        var failures = 0
        while !Task.isCancelled {
            let news = unread.subscribe(keeping: 1)
            var next: Duration?
            do throws(QuartetError) {
                if store.account == nil { try await restore() }
                failures = 0
            } catch {
                failures += 1
                var random = time.draws
                let pause = ReconnectionPolicy.forever.delay(beforeAttempt: failures, using: &random)
                next = pause.map { time.now() + $0 }
            }
            await time.wait(for: news, until: next)
        }
    }

    /// The caller has ``entering``. Copies are decoded where no caller waits for its thread: an app's main one has frames to draw.
    @concurrent
    func restoreNow() async throws(QuartetError) {
        // Other processes may have signed out, and in again, since this one last looked.
        if store.account != nil { await outbox.takeInOthers() }
        // They may do so while this reads.
        for _ in 0..<Self.patience {
            try await dropIfChanged()
            guard try await restoreUnlessChanged() else { continue }
            guard let credentials = try? await credentials else { return }
            let isAnew = await tokens?.isSignedInAnew ?? false
            let (hasDropped, isOut) = core.withLock { ($0.endDropping(), $0.machine.isSignedOut) }
            guard hasDropped || isAnew && (isOut || outbox.isBlocked) else { return }
            show(credentials)
            return comeBack()
        }
    }

    /// How often what is read while other processes change who is signed in is read again. The next call goes on.
    private static var patience: Int { 3 }

    /// Drops what is here of somebody who isn't signed in on the device any more. Whom the server signed out stays: they may sign in
    /// again.
    private func dropIfChanged() async throws(QuartetError) {
        guard let tokens else { return }
        let former = store.account ?? store.unreadAccount
        if !store.isForgotten {
            guard let former else { return }
            let last = try await Requests.reading { try await tokens.last }
            if let last, last.account == former, !last.isLeaving { return }
        }
        await dropFormer(former)
    }

    /// - Returns: False if somebody else is signed in by now, and nothing was shown.
    private func restoreUnlessChanged() async throws(QuartetError) -> Bool {
        let credentials = try await Requests.reading { try await self.credentials }
        if store.account == nil, let account = credentials?.account { store.expect(account) }
        if store.account == nil, let tokens {
            // Asked before the tokens: whoever signs in after that, in another process, loses nothing.
            let openings = try? await store.openings()
            if let openings, let last = try await Requests.reading({ try await tokens.last }) {
                // On a device that can't write, the next start tries again.
                try? await store.forgetOthers(than: last.isLeaving ? nil : last.account, openings)
            }
        }
        guard let account = credentials?.account, store.account != account else { return true }
        guard store.account == nil, let kept = try await store.open(account) else { return false }
        if store.isShared {
            // What can't be read now was read just before.
            let last: Credentials?
            do { last = try await tokens?.last } catch { last = credentials }
            guard let last, last.account == account, !last.isLeaving else {
                // Something urgent may have been made for them while the disk took its time.
                await dropFormer(account)
                return false
            }
        }
        guard store.account == account else { return false }
        for copy in kept.copies where store.account == account {
            guard let name = StreamName.ofAccount.first(where: { "\($0)" == copy.sequence }) else { continue }
            if restore(copy, of: name) { copies.noteKept(copy.sequence) }
        }
        // Something urgent doesn't wait for the end of this before it drops them for somebody else.
        guard store.account == account else { return false }
        await outbox.restore(kept.items, of: account)
        return true
    }

    /// Shows a copy. Its sequence goes on from there, unless an earlier version of the app kept it, which didn't know all that this one does.
    /// - Returns: False if something newer has arrived, or if this version of the app can't read it: such a sequence begins with a
    ///   snapshot, too.
    private func restore(_ copy: LocalCopy, of name: StreamName) -> Bool {
        delivery.withLock { _ in
            let (readers, hasBegun) = core.withLock { core in
                (core.consumers.filter { $0.sequences.contains(name) }, core.sequencer.place(of: name) != nil)
            }
            guard !hasBegun, readers.allSatisfy({ $0.encodable == nil }) else { return false }
            var isWhole = true
            do {
                for reader in readers where try !reader.restore(copy.state, asOf: copy.asOf) { isWhole = false }
            } catch { return false }
            core.withLock { core in
                if isWhole { core.sequencer.restore(name, at: copy.place) }
                core.restored[name] = copy.asOf
            }
            return true
        }
    }
}
