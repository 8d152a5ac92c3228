import Crypto
import Dispatch
import Foundation
import Glibc
import QuartetClient
import QuartetStorage
import Synchronization
import TestKit

/// An app on a bad day: it counts in its profile and in the notes on its first contact, and signs out and in, until SIGUSR1 asks it
/// to settle. From then on it says at each change what it shows, until SIGUSR2 ends it.
///
/// It says `ready` when it can be asked, `did N`, `did notes N`, `signed out`, `refetched STREAM`, `settled N NOTES` when it is connected
/// and the server has accepted all of its changes, `state HASH`, and at its end `copies STREAM=HASH …` of what the device keeps then.
final class Life: Sendable {
    private let app: OfflineApp
    private let random: Mutex<SeededRandom>?
    private let isSettling = Observed(false)
    private let isEnding = Observed(false)
    private let lastHash = Mutex("")

    private var quartet: Quartet { app.quartet }

    /// - Parameter seed: Nil to change nothing.
    init(_ app: OfflineApp, seed: UInt64?) {
        self.app = app
        random = seed.map { Mutex(SeededRandom(seed: $0)) }
    }

    func run() async throws {
        let signals = [await Self.watch(SIGUSR1, isSettling), await Self.watch(SIGUSR2, isEnding)]
        defer { for source in signals { source.cancel() } }
        OfflineApp.say("ready")
        try await quartet.session.restore()
        try await withThrowingTaskGroup { group in
            group.addTask { await self.app.connection.run() }
            group.addTask { await self.report() }
            group.addTask { await self.watchMyself() }
            group.addTask { await self.watchOthers() }
            try await signIn()
            while !isSettling.value, random != nil { try await change() }
            try await isSettling.wait("SIGUSR1", within: .seconds(3600)) { $0 ? true : nil }
            try await signedIn {
                await self.waitUntilSent()
                await self.waitUntilLoaded()
                try await self.app.connection.ready()
            }
            OfflineApp.say("settled \(app.number) \(notes?.number ?? 0)")
            group.addTask { await self.show() }
            try await isEnding.wait("SIGUSR2", within: .seconds(3600)) { $0 ? true : nil }
            group.cancelAll()
        }
        try await sayCopies()
    }

    private static func watch(_ number: Int32, _ hasCome: Observed<Bool>) async -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { hasCome.update { $0 = true } }
        // Until the source is registered, the signal is ignored, and so is lost.
        await withCheckedContinuation { registered in
            source.setRegistrationHandler { registered.resume() }
            source.resume()
        }
        return source
    }

    // MARK: Changing

    private func change() async throws {
        try await signedIn {
            await self.waitUntilLoaded()
            // Changes that can't be sent mustn't pile up.
            if self.app.connection.outbox.items.value.count > 40 { await self.waitUntilSent() }
        }
        switch random?.withLock({ Int.random(in: 0..<15, using: &$0) }) ?? 0 {
        case 0: try await signOut()
        case 1..<6: try await nextNotes()
        default: try await app.next()
        }
    }

    /// What stands in the notes on the first contact.
    private var notes: (contact: Contact, number: Int)? {
        quartet.contacts.contacts.contacts.first.map { ($0, Int($0.notes) ?? 0) }
    }

    private func nextNotes() async throws {
        guard let (contact, number) = notes else { return }
        let base = ContactFields(contact)
        var edited = base
        edited.notes = "\(number + 1)"
        try await OfflineApp.keeping {
            () async throws(QuartetError) in
            try await quartet.contacts.update(contact.account, Edit(base: base, edit: edited))
        }
        guard notes?.number == number + 1 else { OfflineApp.stop("notes are gone: \(number + 1)") }
        OfflineApp.say("did notes \(number + 1)")
    }

    private func signIn() async throws {
        while !quartet.session.session.isSignedIn || app.connection.state.needsSignIn {
            try await attempt { () async throws(QuartetError) in
                try await quartet.session.signIn(SignInRequest(handle: app.handle, password: "a long enough password"))
            }
        }
    }

    private func signOut() async throws {
        // What isn't sent would be gone.
        try await signedIn { await self.waitUntilSent() }
        while quartet.session.session.isSignedIn {
            try await attempt { () async throws(QuartetError) in try await quartet.session.signOut() }
        }
        OfflineApp.say("signed out")
    }

    /// Does what the network may prevent.
    private func attempt(_ action: () async throws(QuartetError) -> Void) async throws {
        do throws(QuartetError) { try await action() } catch {
            switch error {
            case .offline, .unknown: OfflineApp.say("again: \(error)")
            default: throw error
            }
        }
    }

    // MARK: Waiting

    /// Waits for what comes only to a device that is signed in, and signs it in again whenever it turns out not to be: the app may
    /// have been killed before it heard that it is signed out.
    private func signedIn(_ wait: @escaping @Sendable () async throws -> Void) async throws {
        var isOver = false
        while !isOver {
            try await signIn()
            isOver = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await wait()
                    return true
                }
                group.addTask {
                    for await state in self.app.connection.states where state.needsSignIn { break }
                    return false
                }
                defer { group.cancelAll() }
                return try await group.next() ?? false
            }
            try Task.checkCancellation()
        }
    }

    private func waitUntilSent() async {
        for await items in app.connection.outbox.items.values where items.isEmpty { break }
    }

    private func waitUntilLoaded() async {
        for await account in quartet.user.user.values(of: \.account) where account != nil { break }
        for await count in quartet.contacts.contacts.values(of: \.count) where count > 0 { break }
    }

    // MARK: Watching

    private func report() async {
        for await event in app.connection.events {
            if case .refetched(let name) = event { OfflineApp.say("refetched \(name)") }
            if case .didReconnect = event { OfflineApp.say("reconnected") }
        }
    }

    private func watchMyself() async {
        var last = 0
        for await user in quartet.user.user.values where user.account != nil {
            let number = Int(user.emergencyNote) ?? 0
            guard number >= last else { OfflineApp.stop("went back from \(last) to \(number)") }
            last = number
        }
    }

    private func watchOthers() async {
        var last: [AccountID: Int] = [:]
        var lastNotes: [AccountID: Int] = [:]
        for await contacts in quartet.contacts.contacts.values {
            for contact in contacts.contacts {
                let number = Int(contact.notes) ?? 0
                guard number >= lastNotes[contact.account] ?? 0 else { OfflineApp.stop("notes went back to \(number)") }
                lastNotes[contact.account] = number
            }
            for id in contacts.ids {
                guard let number = contacts.person(by: id).flatMap({ Int($0.emergencyNote ?? "") }) else { continue }
                guard number >= last[id] ?? 0 else { OfflineApp.stop("another's number went back to \(number)") }
                last[id] = number
            }
        }
    }

    // MARK: Showing

    /// What the app shows, in one order.
    private struct Shown: Encodable {
        let handle, name: String?
        let emergencyNote: String
        let checkIn: CheckInState?
        let devices: [Device]
        let contacts: [Contact]
        let people: [Person?]
        let notifications: [QuartetNotification]
        let unread: Int
    }

    /// Says what it shows, now and after each change.
    private func show() async {
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in self.quartet.user.user.values { self.sayState() } }
            group.addTask { for await _ in self.quartet.contacts.contacts.values { self.sayState() } }
            group.addTask { for await _ in self.quartet.notifications.notifications.values { self.sayState() } }
        }
    }

    /// Under a lock, so that the last line is the last state.
    private func sayState() {
        lastHash.withLock { last in
            let hash = self.hash
            guard hash != last else { return }
            last = hash
            OfflineApp.say("state \(hash)")
        }
    }

    private var hash: String {
        let (user, contacts) = (quartet.user.user.value, quartet.contacts.contacts.value)
        let notifications = quartet.notifications.notifications.value
        let shown = Shown(
            handle: user.handle, name: user.name, emergencyNote: user.emergencyNote, checkIn: user.checkIn,
            devices: user.devices, contacts: Array(contacts.contacts), people: contacts.ids.map(contacts.person(by:)),
            notifications: notifications.history, unread: notifications.unreadCount)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let text = try? encoder.encode(shown) else { OfflineApp.stop("the state can't be encoded") }
        return SHA256.hash(data: text).prefix(8).map { String($0, radix: 16) }.joined(separator: "-")
    }

    /// Says the hashes of what the device keeps, which are the server's where it has the same.
    private func sayCopies() async throws {
        guard let account = quartet.session.session.account else { OfflineApp.stop("nobody is signed in") }
        var hashes: [String] = []
        for copy in try await app.store.load(account).copies.sorted(by: { $0.sequence < $1.sequence })
        where !copy.state.isEmpty {
            var state = try JSONDecoder().decode(JSONValue.self, from: copy.state)
            // Beside it stand the commands whose events it has.
            if case .object(let members) = state, let kept = members["state"] { state = kept }
            // The people behind them are kept with the contacts.
            if copy.sequence == "contacts", case .object(let members) = state { state = members["contacts"] ?? .null }
            hashes.append("\(copy.sequence)=\(StateHash(ofWhole: state))")
        }
        OfflineApp.say("copies \(hashes.joined(separator: " "))")
    }
}
