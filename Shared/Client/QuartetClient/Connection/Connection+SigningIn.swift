import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Signing in and out, here and in other processes.
extension Connection {
    /// Somebody signed in.
    func signedIn(_ reply: SignedIn, asked: Duration) async throws(QuartetError) {
        let former = try await entering.run(isShielded: true) { () async throws(QuartetError) -> Int in
            try await Requests.reading {
                // Whoever was signed in before: nothing of theirs goes on.
                signedOut(await tokens?.signOutError ?? .notSignedIn)
                // Credentials that can't be read are replaced.
                let openings = await openings
                let last = try? await lastAccount
                let hasLeft = await isLeaving
                if last != reply.account || hasLeft {
                    if let last {
                        try await forget(last, openings)
                        // Nothing is left of them, either: a process that was about to erase what is there would take theirs for it.
                        if last != reply.account { try await store.forget(reply.account, openings) }
                    } else {
                        // Somebody can sign in on a device that can't erase it now.
                        try? await store.forgetSetAside(unlessOf: reply.account)
                    }
                    reset(for: reply.account)
                    notices?.withdrawAll()
                }
                if hasLeft { await finishLeavingSoon() }
                try await tokens?.signedIn(reply, asked: asked)
                // What the server answers to earlier requests isn't about this sign-in, even of the same account.
                let former = core.withLock { core in
                    core.accountCount += 1
                    return core.machine.opening
                }
                do { try await restoreNow() } catch QuartetError.notStored {
                    // Somebody can sign in on a device that can't read what it kept.
                    unread.send(())
                }
                return former
            }
        }
        comeBack(from: former)
    }

    /// Somebody is signed in: what had ended with whoever wasn't any more goes on.
    /// - Parameter former: The newest stream that may have been opened before that, for nobody or somebody else; nil if none can.
    func comeBack(from former: Int? = nil) {
        change { machine, now, _ in
            machine.isSignedOut || machine.opening == former ? machine.signedIn(now: now) : []
        }
        outbox.retry()
    }

    /// Has whom the server signed out go on once they are signed in again in another process, which says nothing of it, until the task is
    /// cancelled. To read the tokens may cost a question to the system, which nobody asks every second of somebody who stays signed out;
    /// whoever signs in changes what the processes share as well.
    func heedSigningIn() async {
        guard let tokens else { return }
        var pause = Outbox.sharingInterval
        var due = store.isShared ? time.now() + pause : time.now()
        while !Task.isCancelled {
            let wakes = wakes.subscribe(keeping: 1)
            let (isOut, error) = core.withLock { ($0.machine.isSignedOut, $0.machine.lastError) }
            // Of a store that is this process's alone, it is asked when the app comes back or tries again.
            if isOut || outbox.isBlocked, store.isShared || error == .tokensUnreadable {
                let hasNews = await store.hasNews()
                if hasNews || time.now() >= due {
                    if await tokens.isSignedInAnew { await takeUp() }
                    pause = min(pause * 2, Self.longestLook)
                    due = time.now() + pause
                }
            } else {
                pause = Outbox.sharingInterval
                due = time.now() + pause
            }
            if await time.wait(for: wakes, until: store.isShared ? time.now() + Outbox.sharingInterval : nil) {
                pause = Outbox.sharingInterval
                due = time.now()
            }
        }
    }

    /// The tokens of somebody who stays signed out are read at least that often.
    private static var longestLook: Duration { .seconds(30) }

    /// The person signed out: nothing of the account stays. If this throws, or is killed at any point, the next sign-out, sign-in or
    /// start erases what is left.
    /// - Parameters:
    ///   - isKnown: Whether the server knows. Otherwise the token is kept until it has been told.
    ///   - isMeant: Whether it still is that person who is signed in, and not one who signed in meanwhile.
    func forgetAccount(isKnown: Bool, if isMeant: () -> Bool) async throws(QuartetError) {
        try await entering.run(isShielded: true) { () async throws(QuartetError) in
            guard isMeant() else { return }
            try await Requests.reading {
                let last = try? await lastAccount
                // A device that can't write this can still erase.
                var trouble: (any Error)?
                var device: DeviceID?
                do { device = try await tokens?.leave(last) } catch { trouble = error }
                signedOut(.signedOut(.signedOut))
                reset()
                notices?.withdrawAll()
                copies.forget()
                let openings = await openings
                if trouble == nil, let last, (try? await credentials)?.account == last {
                    // The same person has signed in again by now, in another process, and what that one keeps stays.
                    store.close()
                } else {
                    await home.withLock { $0 }?.noteLeaving()
                    if let last {
                        try await store.forget(last, openings)
                    } else {
                        // Of whom it is can't be read, or it is nobody's.
                        let unread = (try? await store.items()) ?? []
                        try await store.forgetOthers(than: nil, openings)
                        outbox.noteDropped(unread)
                    }
                }
                if isKnown { try await tokens?.forget(last, device) } else if let trouble { throw trouble }
            }
        }
        leaving.send(())
    }

    /// Somebody else signs in, whose token takes the place of the one that can tell the server.
    private func finishLeavingSoon() async {
        await withTaskGroup(of: Void.self) { group in
            // What is left of them is erased already.
            group.addTask { try? await self.tokens?.finishLeaving { _, _ in } }
            group.addTask { try? await self.time.sleep(self.time.now() + .seconds(5)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Whether its person signed out, and the server may not know.
    var isLeaving: Bool {
        get async { (try? await tokens?.isLeaving) ?? false }
    }

    /// Tells the server of sign-outs that it hasn't heard of, until the task is cancelled.
    func finishLeaving() async {
        guard let tokens else { return }
        var failures = 0
        while !Task.isCancelled {
            let news = leaving.subscribe(keeping: 1)
            var next: Duration?
            let home = home.withLock { $0 }
            let wasLeaving = if home != nil { await isLeaving } else { false }
            do {
                try await tokens.finishLeaving { account, isLast in
                    let openings = try await self.store.openings()
                    guard try await isLast() else { return }
                    await home?.noteLeaving()
                    try await self.store.forget(account, openings)
                }
                failures = 0
                if wasLeaving { await home?.noteSignOut() }
            } catch {
                failures += 1
                var random = time.draws
                next = ReconnectionPolicy.forever.delay(beforeAttempt: failures, using: &random).map { time.now() + $0 }
            }
            await time.wait(for: news, until: next)
        }
    }

    /// What there is to forget.
    private var openings: AccountStore.Openings {
        get async { (try? await store.openings()) ?? .all }
    }

    /// Whose data the device keeps.
    private var lastAccount: AccountID? {
        get async throws {
            if let account = store.account ?? store.unreadAccount { return account }
            return try await tokens?.lastAccount
        }
    }

    private func forget(_ account: AccountID, _ openings: AccountStore.Openings) async throws {
        copies.forget()
        try await store.forget(account, openings)
    }

    /// Who is signed in on this device.
    var credentials: Credentials? {
        get async throws { try await tokens?.credentials }
    }

    /// What shows at a sign-in that the device was signed in before.
    var lastRefreshToken: String? {
        get async throws { try await tokens?.lastRefreshToken }
    }

    /// - Parameter count: As in ``change(ifAccountCount:_:)``.
    func signedOut(_ error: ConnectionError, ifAccountCount count: Int? = nil) {
        change(ifAccountCount: count) { machine, _, _ in machine.signOut(error) }
    }

    /// - Parameter next: Who signs in.
    func reset(for next: AccountID? = nil) {
        let (consumers, opening) = core.withLock { core in
            // What still comes from them is ignored, so none may be taken for the stream of whoever is signed in next.
            for stop in core.stops.values { stop.finish() }
            core.stops = [:]
            core.sequencer.forgetAll()
            core.unkept = []
            core.restored = [:]
            core.accountCount += 1
            return (core.consumers, core.machine.opening)
        }
        outbox.reset(for: next)
        for consumer in consumers { consumer.reset(opening: opening) }
    }
}
