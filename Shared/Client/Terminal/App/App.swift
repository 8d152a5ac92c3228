import Foundation
import QuartetClient

/// Draws shared state, and does what keys ask for.
@MainActor
final class App {
    /// Nil without a server.
    let accounts: DeviceAccounts?
    var model = Model()
    let device: Device
    private let server: String?
    /// What there is without a server.
    private let nowhere = Connection(transport: nil)
    /// Whose state is followed.
    private var watched: ObjectIdentifier?
    private let terminal: Terminal
    private var screen: Screen?
    private var lines: [String] = []
    /// Of the session that is open, and of the one whose music plays.
    private(set) var group: RemoteGroup?
    private(set) var music: RemotePlayback?
    private var followers: [String: Task<Void, Never>] = [:]
    /// The notifications of which the server knows, or will know, that this device has shown them.
    private var seen: Set<NotificationID> = []
    private var isTellingSeen = false
    private var ended: PlaybackItemID?
    private let frames = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private var exitStatus: Int32?
    /// What keys asked for and is still being done.
    private var jobs: [Int: Task<Void, Never>] = [:]
    private var jobCount = 0

    init(_ accounts: DeviceAccounts?, on device: Device, server: String?, terminal: Terminal) {
        self.accounts = accounts
        self.device = device
        self.server = server
        self.terminal = terminal
    }

    /// Of the account that is shown, or of nobody: what somebody sees and does is about one and the same account.
    var connection: Connection { accounts?.current.connection ?? nowhere }
    var quartet: Quartet { accounts?.current.quartet ?? .live(nowhere) }
    /// Of all accounts with which something was done since the app was started, or that have something to send.
    private var connections: [Connection] { accounts?.opened.map(\.connection) ?? [] }

    /// Runs until somebody ends it.
    /// - Returns: The exit status.
    func run() async -> Int32 {
        let status = await runOnScreen()
        let unsent = connections.reduce(0) { $0 + $1.outbox.items.value.count }
        if unsent > 0 {
            let changes = unsent == 1 ? "1 change wasn't sent. It is" : "\(unsent) changes weren't sent. They are"
            terminal.write("quartet-tui: \(changes) sent when it runs again.\n")
        }
        return status
    }

    private func runOnScreen() async -> Int32 {
        let (events, signals) = terminal.events()
        terminal.enter()
        defer {
            terminal.leave()
            for signal in signals { signal.cancel() }
        }
        do { try await restore() } catch { model.notice = .init(text: error.localizedDescription, isError: true) }
        let running = Task { [accounts] in if let accounts { await accounts.run() } }
        watch()
        let drawing = Task { for await _ in frames.stream { draw() } }
        change()
        for await event in events {
            switch event {
            case .key(let key): press(key)
            case .resized: screen = nil
            case .resumed: resume()
            case .ended(let signal): exitStatus = signal == SIGINT ? 0 : 128 + signal
            }
            if let exitStatus {
                await finish(until: events)
                drawing.cancel()
                for follower in followers.values { follower.cancel() }
                running.cancel()
                await running.value
                return exitStatus
            }
            change()
        }
        return 0
    }

    /// A key that was pressed on the screens of an account that isn't shown any more does nothing.
    func press(_ key: Key) {
        guard key == .interrupt || watched == nil || watched == ObjectIdentifier(connection) else {
            let wasAsking = model.dialog?.purpose == .confirm(.raiseAlert)
            watchAccount()
            // The question is gone as if it had been answered.
            if wasAsking {
                model.notice = .init(
                    text: "The alert wasn't raised: another account is shown. Press the key again.", isError: true)
            }
            return
        }
        if let action = model.handle(key, shown) { perform(action) }
    }

    private func restore() async throws(AccountListProblem) {
        guard let accounts else { return }
        do throws(AccountListProblem) { try await accounts.restore() } catch .damaged {
            // Everybody who is signed in is in the next one, too.
            try await accounts.repair()
            try await accounts.restore()
        }
    }

    func quit() { exitStatus = 0 }

    /// Does what a key asked for. The app doesn't end before it is done, as long as a person would wait.
    @discardableResult
    func keep(_ job: @escaping @MainActor () async -> Void) -> Task<Void, Never> {
        jobCount += 1
        let number = jobCount
        let task = Task {
            await job()
            jobs[number] = nil
        }
        jobs[number] = task
        return task
    }

    /// Whether something that was asked for may still be sent. Without a connection it is kept, and nobody waits for it.
    private var isBusy: Bool {
        !jobs.isEmpty || connections.contains { $0.state.isConnected && !$0.outbox.items.value.isEmpty }
    }

    /// Gives what was asked for last the time to be sent, unless somebody asks again that the app end.
    private func finish(until events: AsyncStream<TerminalEvent>) async {
        guard isBusy else { return }
        model.notice = .init(text: "Sending what you changed… Press Ctrl-C again to end without it.")
        change()
        let sending = Task {
            let end = ContinuousClock.now + .seconds(5)
            while isBusy, ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(20))) != nil {}
        }
        let listening = Task {
            for await event in events {
                switch event {
                // Only this one: a terminal that is gone says so twice, and what was done there is still sent.
                case .key(.interrupt), .ended(signal: SIGINT): sending.cancel()
                case .resized: redraw()
                case .resumed: resume()
                case .key, .ended: break
                }
            }
        }
        await sending.value
        listening.cancel()
    }

    /// Something that is shown may have changed.
    func change() { frames.continuation.yield(()) }

    /// Shows the whole screen again.
    func redraw() {
        screen = nil
        change()
    }

    func suspend() {
        guard !terminal.abilities.isDumb else { return }
        terminal.leave()
        // Whatever started it, such as make, has to stop with it: a shell waits for all of them.
        kill(0, SIGTSTP)
        // The signal may arrive a moment later. Where nobody could continue the app, the system doesn't stop it at all.
        Thread.sleep(forTimeInterval: 0.1)
        resume()
    }

    /// Takes the terminal back after something else had it.
    private func resume() {
        terminal.enter()
        redraw()
    }

    // MARK: Shared state

    var shown: Shown {
        let list = accounts?.list.value
        // Nothing connects for nobody.
        let state = accounts != nil && list?.shown == nil ? .notSignedIn : connection.state
        var shown = Shown(quartet, state, server: server, now: connection.serverTime ?? .now)
        shown.error = connection.lastError
        shown.unreachable = connection.isNetworkConnected == false ? connection.lastNetworkCheck : nil
        shown.waiting = connection.outbox.items.value.count
        let cards = accounts?.unsent ?? []
        shown.unsent = cards.map(\.change)
        shown.unsentOwner = cards.first.flatMap { $0.account == list?.shown ? nil : $0.owner.label }
        shown.dropped = connections.flatMap(\.outbox.dropped.value)
        shown.accounts = list?.accounts ?? []
        shown.hasSetAside = device.hasSetAside
        shown.group = group?.state.value
        shown.music = music?.group
        shown.playback = music?.state.value
        shown.position = music?.position
        return shown
    }

    private func watch() {
        watchAccount()
        if let accounts {
            followers["accounts"] = Task {
                for await _ in accounts.list.values {
                    watchAccount()
                    change()
                }
            }
        }
        // What prints lines prints them when something happens, not when time goes on.
        guard !terminal.abilities.isDumb else { return }
        followers["time"] = Task {
            while (try? await Task.sleep(for: .seconds(1))) != nil { change() }
        }
    }

    /// Follows the account that is shown. Nothing that is open or was chosen of another one stays.
    func watchAccount() {
        for connection in connections where followers["unsent \(connection.name)"] == nil {
            follow("unsent \(connection.name)", connection.outbox.unsent.values)
            follow("dropped \(connection.name)", connection.outbox.dropped.values)
        }
        let former = watched
        watched = ObjectIdentifier(connection)
        guard former != watched else { return }
        if former != nil {
            let (form, notice) = (model.signIn, model.notice)
            model = Model()
            (model.signIn, model.notice) = (form, notice)
            for name in ["group", "music"] { followers.removeValue(forKey: name)?.cancel() }
            (group, music, ended) = (nil, nil, nil)
        }
        follow("connection", connection.states)
        follow("session", quartet.session.session.values)
        follow("user", quartet.user.user.values)
        follow("phase", quartet.user.user.phases)
        follow("contacts", quartet.contacts.contacts.values)
        follow("notifications", quartet.notifications.notifications.values)
        follow("groups", quartet.groups.groups.values)
        follow("start", quartet.groups.starting.values)
        follow("outbox", connection.outbox.items.values)
    }

    private func follow<Values: AsyncSequence & Sendable>(_ name: String, _ values: Values)
    where Values.Failure == Never {
        followers.removeValue(forKey: name)?.cancel()
        followers[name] = Task { for await _ in values { change() } }
    }

    /// Follows the sessions that are shown, and no others.
    private func followGroups(_ shown: Shown) {
        if group?.id != model.group {
            followers.removeValue(forKey: "group")?.cancel()
            group = model.group.flatMap { id in attempt { () throws(QuartetError) in try quartet.groups.open(id) } }
            if let group { follow("group", group.state.values) } else { model.group = nil }
        }
        if music?.group != shown.listening {
            followers.removeValue(forKey: "music")?.cancel()
            music = shown.listening.flatMap { id in attempt { () throws(QuartetError) in try quartet.playback.open(id) }
            }
            if let music { follow("music", music.state.values) }
        }
    }

    private func attempt<Value>(_ body: () throws(QuartetError) -> Value) -> Value? {
        do { return try body() } catch {
            model.notice = .init(text: error.localizedDescription, isError: true)
            return nil
        }
    }

    // MARK: Drawing

    private func draw() {
        watchAccount()
        followGroups(shown)
        let shown = shown
        report(shown)
        terminal.show(typing: !model.isSecret(shown))
        let (width, height) = terminal.size
        let rows = Frame.lines(model, shown, width: width, height: height)
        let next = Screen(rows, width: width, height: height)
        if terminal.abilities.isDumb {
            let lines = next.rows.filter { !$0.isEmpty }
            guard lines != self.lines else { return }
            self.lines = lines
            return terminal.write(lines.joined(separator: "\n") + "\n")
        }
        let changes = next.changes(from: screen, hasColor: terminal.abilities.hasColor)
        screen = next
        if !changes.isEmpty { terminal.write(changes) }
    }

    /// Tells the server what this device has shown, and goes on to the next item where one is over.
    private func report(_ shown: Shown) {
        guard shown.connection == .connected else { return }
        if model.tab == .notifications, model.dialog == nil, !shown.needsSignIn, !isTellingSeen {
            let rows = NotificationsScreen.visible(model, shown, height: Frame.room(height: terminal.size.height))
            let new = rows.filter { $0.isUnread && !seen.contains($0.id) }.prefix(100).map(\.id)
            if !new.isEmpty { tell(seen: new) }
        }
        guard let music = shown.music, let playback = shown.playback, playback.isPlaying, let item = playback.item,
            let duration = item.duration, let position = shown.position, position >= duration, ended != item.id
        else { return }
        ended = item.id
        keep { [quartet] in
            do throws(QuartetError) { try await quartet.playback.next(music) } catch {
                // Another device may be quicker, which a refusal says, and is right then. What is pending is sent by itself.
                guard !error.isPending, error.code == nil, self.ended == item.id else { return }
                self.ended = nil
            }
        }
    }

    private func tell(seen new: [NotificationID]) {
        isTellingSeen = true
        keep { [quartet] in
            defer { self.isTellingSeen = false }
            do throws(QuartetError) { try await quartet.notifications.show(new) } catch {
                // What is pending is sent by itself, and a refusal would come again. Anything else is tried again.
                guard error.isPending || error.code != nil else { return }
            }
            self.seen.formUnion(new)
            // Others may have come into view meanwhile.
            self.change()
        }
    }
}
