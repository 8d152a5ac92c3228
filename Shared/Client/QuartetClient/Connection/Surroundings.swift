import Synchronization

/// What a connection hears from the device that it runs on, and asks of it.
public protocol Surroundings: Sendable {
    /// A value whenever the device has another network than before. A reader that falls behind needs the newest one alone.
    func networkChanges() -> AsyncStream<Void>
    /// Runs `body`, and has the system let the app go on meanwhile though it goes to the background, as long as the system allows.
    /// - Parameter reason: For the system's log.
    func stayAwake(_ reason: String, while body: @Sendable () async -> Void) async
    /// Tells the person of an urgent change that ended unsent or may not have arrived, though the app isn't in front of them. Each card of
    /// ``Outbox/unsent`` is told once, by the process in which the change ended. What it was to tell of the same change before, it doesn't
    /// tell any more.
    /// - Parameters:
    ///   - connection: The name of the connection that asks. Names and numbers of changes together find what the device tells.
    ///   - delay: In how long. It is to tell then though the app doesn't run: the change still waits, and expires before.
    ///   - isLoud: Whether it comes as news: not for what the person did just now, or for one of many. Each call for help does.
    func tell(_ change: UnsentChange, of connection: String, after delay: Duration, isLoud: Bool) async
    /// Tells of a change no longer: it was read, or has arrived.
    func withdraw(_ change: UnsentChange.ID, of connection: String) async
    /// Tells of no others of a connection's changes any longer, whichever process asked for it: when the app is started, what it was to
    /// tell may not be so any more, and of somebody who signed out it tells nothing.
    func withdraw(allBut changes: Set<UnsentChange.ID>, of connection: String) async
}

extension Surroundings {
    /// Leaves it to the card.
    public func tell(_ change: UnsentChange, of connection: String, after delay: Duration, isLoud: Bool) async {}
    public func withdraw(_ change: UnsentChange.ID, of connection: String) async {}
    public func withdraw(allBut changes: Set<UnsentChange.ID>, of connection: String) async {}
}

extension Connection {
    /// For how long the app asks to go on in the background for what waits to be sent. What comes meanwhile asks again, and so does
    /// what is urgent for as long as it waits: asked for in the foreground alone, the time would be over when the app leaves it.
    static let wakefulness: Duration = .seconds(30)

    /// Does what the surroundings call for, until the task is cancelled.
    func heed(_ surroundings: any Surroundings) async {
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in surroundings.networkChanges() { self.networkChanged() } }
            // Several accounts do so also for one that doesn't run.
            if home.withLock({ $0 == nil }) { group.addTask { await self.followNotices() } }
            var known: Set<OutboxItem.ID> = []
            for await items in outbox.items.values {
                let ids = Set(items.map(\.id))
                // An attempt that fails changes an item, too.
                guard !ids.isSubset(of: known) else {
                    known = ids
                    continue
                }
                repeat {
                    let least = time.now() + .seconds(1)
                    await surroundings.stayAwake("Changes are being sent.") { await self.waitUntilSent() }
                    // A system that refuses isn't asked without a pause.
                    if time.now() < least, !outbox.items.value.isEmpty { try? await time.sleep(least) }
                } while !Task.isCancelled && outbox.isSendingUrgently
                // What can't be sent before its person signs in again asks anew then.
                known = outbox.items.value.contains { $0.precedence == .urgent } ? [] : ids
            }
        }
    }

    /// Has the device tell what is so, until the task is cancelled.
    func followNotices() async {
        guard let notices else { return }
        if await isNobodys { notices.withdrawAll() }
        await notices.follow()
    }

    private func waitUntilSent() async {
        let until = time.now() + Self.wakefulness
        await withTaskGroup { group in
            group.addTask {
                for await items in self.outbox.items.values where items.isEmpty { break }
                // Once the app may be suspended, the device would tell of what has arrived.
                if !Task.isCancelled { await self.finishTelling(until: until) }
            }
            group.addTask { try? await self.time.sleep(until) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until the device tells what is so.
    func finishTelling(until limit: Duration) async {
        guard let telling = notices?.update() else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        Task(executorPreference: time.workplace) {
            await telling.value
            end.finish()
        }
        await time.wait(for: ends, until: limit)
    }

    /// Whether for certain nobody is signed in, and nobody is to sign in again.
    private var isNobodys: Bool {
        get async {
            guard store.account ?? store.unreadAccount == nil, let tokens else { return false }
            do {
                if let last = try await tokens.last { return last.isLeaving }
                return home.withLock { $0 }?.hasLeft ?? true
            } catch { return false }
        }
    }
}
