import QuartetAPI
import QuartetClientTesting
import QuartetVocabulary
import Synchronization
import TestKit

@testable import QuartetClient

/// A random piece of the life of two people with three devices: what they do, and what goes wrong, follows from the seed.
struct WorldPlay {
    /// What can go wrong.
    enum Fault: String, CaseIterable {
        case cut, kill, killAtStep, restart, fullDisk, lock, stolenToken
        case unreachable, lostRequest, lostAnswer, slow, foreignAnswer, overloaded, tooManyCommands, undecided, failed,
            refusedToken
    }

    /// What was played, in all plays of a test.
    struct Counts: Sendable {
        var commands: [String: Int] = [:]
        var faults: [Fault: Int] = [:]
        /// How often one was made while the other waited: the waiting one's precedence first.
        var pairs: [String: Int] = [:]
        /// Kills, by whether something waited.
        var kills: [Bool: Int] = [:]
        /// How often somebody took back what waited, and their device removed it.
        var takenBack = 0
    }

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    /// How often people heard that what they did happened or will, by device and command.
    private final class Promises: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        var all: [String: Int] { counts.withLock { $0 } }
        func add(_ key: String) { counts.withLock { $0[key, default: 0] += 1 } }
    }

    let world: QuartetWorld
    let ledger: WorldLedger
    let devices: [WorldPerson]
    var random: SeededRandom
    var counts = Counts()
    private let promises = Promises()
    /// How many commands the server had decided before the play.
    private let decided: Int
    private var begun: [Task<Void, Never>] = []
    /// Devices that are signed out when they show their tokens.
    private var stolen: Set<String> = []
    /// Until when disks are full.
    private var full: [String: Instant] = [:]

    init(seed: UInt64) async throws {
        world = QuartetWorld(seed: seed)
        random = SeededRandom(seed: seed)
        let ledger = WorldLedger()
        self.ledger = ledger
        func store(_ name: String) -> LedgerStore { LedgerStore(device: name, ledger: ledger) }
        let anna = try await world.person("anna", store: store("anna"))
        let bob = try await world.person("bob", store: store("bob"))
        try await world.befriend(anna, bob)
        let tablet = try await world.device(of: anna, store: store("anna/2"))
        devices = [anna, bob, tablet]
        decided = world.decisions.count
        await world.advance(by: Interval(.milliseconds(1)))
        ledger.begin(at: world.now)
        world.onRequest { [devices, world, ledger] device, request in
            guard case .command(let name) = request.endpoint, let key = request.key,
                let person = devices.first(where: { $0.deviceName == device })
            else { return }
            WorldLedger.trace("\(device) sends \(name) under \(key)", at: world.now)
            let items = person.connection.outbox.state.withLock { $0.items }
            ledger.sent(name, key, from: device, at: world.now, items)
        }
    }

    /// Plays, mends everything, and looks at what came of it.
    mutating func run() async throws {
        // The world has this play by its ear.
        defer { world.onRequest { _, _ in } }
        for _ in 0..<12 {
            if random.oneIn(2) { await fault() }
            for _ in 0..<Int.random(in: 1...2, using: &random) { try await act() }
            await pass()
        }
        try await mend()
        try await check()
    }

    // MARK: What happens

    private mutating func pass() async {
        let time: Interval =
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12: Interval(.milliseconds(Int64.random(in: 1...3000, using: &random)))
            case 12..<19: .seconds(Int64.random(in: 3...60, using: &random))
            default: .minutes(Int64.random(in: 2...12, using: &random))
            }
        await world.advance(by: time)
    }

    private mutating func act() async throws {
        // So that no two changes of a device have one time.
        await world.advance(by: Interval(.milliseconds(1)))
        let person = devices[Int.random(in: 0..<devices.count, using: &random)]
        guard person.isRunning else {
            if random.oneIn(2) { await restart(person) }
            return
        }
        if random.oneIn(12), await takeBack(of: person) { return }
        let act = WorldAct.draw(using: &random)
        let precedence = act.precedence
        for item in person.connection.outbox.items.value {
            counts.pairs["\(item.precedence.rawValue) \(precedence.rawValue)", default: 0] += 1
        }
        counts.commands[act.rawValue, default: 0] += 1
        trace("\(person.deviceName) \(act.rawValue)")
        let others = devices.map(\.id).filter { $0 != person.id }
        let call = act.call(person.quartet, about: others[0], number: random.next())
        // On a full disk, a call for help is kept in memory alone.
        let isKept = !isDiskFull(of: person)
        // Where nothing is shown there is nothing to do.
        let isNothing = [.markAllRead, .clear].contains(act) && person.notifications.notifications.history.isEmpty
        let (life, promises, key) = (person.connection, promises, "\(person.deviceName) \(act.rawValue)")
        begun.append(
            await world.begin {
                let isTold: Bool
                do throws(QuartetError) {
                    try await call()
                    isTold = true
                } catch {
                    isTold = error.isPending
                }
                // Nobody hears what a killed app says.
                if isTold, isKept, !isNothing, person.isRunning, person.connection === life {
                    promises.add(key)
                }
            })
    }

    private func isDiskFull(of person: WorldPerson) -> Bool {
        full[person.deviceName].map { world.now < $0 } ?? false
    }

    /// Takes back something that waits on a device. What a full disk keeps of it, an app that is killed sends after all, so nobody takes
    /// anything back then.
    /// - Returns: False if nothing was there to be taken back.
    private mutating func takeBack(of person: WorldPerson) async -> Bool {
        let waiting = person.connection.outbox.items.value.filter(\.canCancel)
        guard !isDiskFull(of: person), let item = waiting.randomElement(using: &random) else { return false }
        trace("\(person.deviceName) takes \(item.command) \(item.id) back")
        let (life, ledger) = (person.connection, ledger)
        begun.append(
            await world.begin {
                guard (try? await life.outbox.cancel(item.id)) == true else { return }
                // An app that is killed meanwhile may not have removed it.
                let isRemoved = person.isRunning && person.connection === life
                ledger.takenBack(item, on: person.deviceName, isRemoved: isRemoved)
            })
        return true
    }

    private mutating func fault() async {
        guard let fault = Fault.allCases.randomElement(using: &random) else { return }
        let person = devices[Int.random(in: 0..<devices.count, using: &random)]
        counts.faults[fault, default: 0] += 1
        let time = Interval.seconds(Int64.random(in: 1...40, using: &random))
        let count = Int.random(in: 1...3, using: &random)
        trace("\(person.deviceName) \(fault.rawValue), \(time), \(count) times")
        func trouble(_ trouble: WorldTrouble) { world.trouble(trouble, for: person, count: count) }
        switch fault {
        case .cut: world.cut(person, for: random.oneIn(4) ? .minutes(10) : time)
        case .kill:
            counts.kills[!person.connection.outbox.items.value.isEmpty, default: 0] += 1
            await world.kill(person)
        case .killAtStep: await world.kill(person, afterSteps: Int.random(in: 0...12, using: &random))
        case .restart: await restart(person)
        case .fullDisk:
            world.fillDisk(of: person, for: time)
            full[person.deviceName] = world.now + time
        case .lock: world.lock(person, for: time)
        case .stolenToken:
            try? world.stealToken(of: person)
            stolen.insert(person.deviceName)
        case .unreachable: trouble(.unreachable)
        case .lostRequest: trouble(.lostRequest)
        case .lostAnswer: trouble(.lostAnswer)
        case .slow: trouble(.slow(Interval(.milliseconds(Int64.random(in: 1...14_000, using: &random)))))
        case .foreignAnswer: trouble(.foreignAnswer)
        case .overloaded: trouble(.overloaded)
        case .tooManyCommands: trouble(.tooManyCommands)
        case .undecided: trouble(.undecided(random.oneIn(3) ? .minutes(6) : time))
        case .failed: trouble(.failed)
        case .refusedToken: trouble(.refusedToken)
        }
    }

    private mutating func restart(_ person: WorldPerson) async {
        counts.kills[!person.connection.outbox.items.value.isEmpty, default: 0] += 1
        trace("\(person.deviceName) restarts")
        await world.restart(person)
    }

    /// All is well again, and everybody signed in.
    private mutating func mend() async throws {
        for person in devices {
            await world.mend(person)
            if !person.isRunning || random.oneIn(3) { await restart(person) }
        }
        await world.settle()
        guard !world.isStuck else { throw Wrong(description: "an app works without end") }
        for person in devices where person.connection.state.needsSignIn { try await person.signIn() }
        await world.settle()
        // An edit whose event was part of a snapshot ends with the second heartbeat.
        await world.advance(by: .seconds(45))
        await world.settle()
        for task in begun { await task.value }
        counts.takenBack = ledger.entries.values.count(where: \.isRemoved)
    }

    /// With `WORLD_TRACE` a play says what happens in it.
    private func trace(_ what: @autoclosure () -> String) { WorldLedger.trace(what(), at: world.now) }

    // MARK: What came of it

    private func check() async throws {
        func require(_ isRight: Bool, _ wrong: @autoclosure () -> String) throws {
            if !isRight { throw Wrong(description: wrong()) }
        }
        if let wrong = ledger.wrongs.first { throw Wrong(description: wrong) }
        let (entries, changes, decisions) = (ledger.entries, ledger.changes, world.decisions.dropFirst(decided))
        var last: [String: WorldLedger.Change] = [:]
        for decision in decisions where decision.isAccepted {
            guard let change = changes[decision.key], let entry = entries[change] else {
                throw Wrong(description: "the server accepted a \(decision.command) that nobody made")
            }
            let lane = "\(change.device) \(entry.lane)"
            if let earlier = last[lane] {
                try require(earlier != change, "\(decision.command) of \(change) was made twice")
                try require(
                    earlier.acted < change.acted, "\(decision.command) of \(change) overtook an older one")
            }
            last[lane] = change
        }
        let outcomes = Dictionary(grouping: decisions) { $0.key }
        for (change, entry) in entries {
            // What became of one that joined others is what became of them.
            var (last, seen) = (entry, Set([change]))
            while let next = last.joined, seen.insert(next).inserted, let later = entries[next] { last = later }
            let keys = last.id == entry.id ? entry.keys : entry.keys + last.keys
            let decided = keys.flatMap { outcomes[$0] ?? [] }
            // One that joined others has keys of its own if it was sent after all, and then what became of them says nothing of it.
            try require(
                !entry.isRemoved || !entry.keys.contains { outcomes[$0]?.contains(where: \.isAccepted) == true },
                "\(entry.command) of \(change) was made though it was taken back")
            guard !decided.contains(where: \.isAccepted) else { continue }
            let age = world.now - change.acted
            let isOver =
                // A full disk may lose what was only in memory.
                !entry.isWritten || last.isTakenBack || isOfFormerDevice(change, entry)
                || decided.last?.isFinal == true || decided.count(where: \.isFailed) >= Outbox.failureLimit
                || age > entry.lifetime || isSuperseded(change, entry, entries)
            try require(isOver, "\(entry.command) of \(change) was lost; its decisions: \(decided.map(\.outcome))")
        }
        for (key, count) in promises.all {
            let kept = entries.count { "\($0.key.device) \($0.value.command)" == key }
            try require(count <= kept, "\(key): \(count) were promised and \(kept) kept")
        }
        for person in devices { try await checkState(of: person, require) }
    }

    /// Whether one that a person made later took its place.
    private func isSuperseded(
        _ change: WorldLedger.Change, _ entry: WorldLedger.Entry, _ entries: [WorldLedger.Change: WorldLedger.Entry]
    ) -> Bool {
        entries.contains { other, later in
            other.device == change.device && other.acted > change.acted && later.lane == entry.lane
                && appCommands[later.command]?.sending.supersedes.contains(entry.command) == true
        }
    }

    /// Whether the server may have it as another device's: it adds the device to some commands, and this one was signed out since.
    private func isOfFormerDevice(_ change: WorldLedger.Change, _ entry: WorldLedger.Entry) -> Bool {
        guard stolen.contains(change.device) else { return false }
        return ["UpdateSecurity", "RemovePhone", "ShowNotifications", "RegisterPush", "UnregisterPush"]
            .contains(entry.command)
    }

    private func checkState(
        of person: WorldPerson, _ require: (Bool, @autoclosure () -> String) throws -> Void
    ) async throws {
        let (name, server) = (person.deviceName, world.state(of: person))
        let (user, contacts) = (person.user.user.value, person.contacts.contacts.value)
        let notifications = person.notifications.notifications.value
        try require(person.connection.outbox.items.value.isEmpty, "\(name)'s outbox isn't empty")
        try require(
            user.emergencyNote == server.account.emergencyNote && user.checkIn == server.account.checkIn
                && user.alertRaised == server.account.alertRaised && user.alertAlarm == server.account.alertAlarm
                && user.isSingleDevice == server.account.isSingleDevice
                && user.isConfirmationRequired == server.account.isConfirmationRequired
                && user.devices == Array(server.account.devices),
            "\(name) shows another account than the server has: \(user), not \(server.account)")
        try require(
            contacts.code == server.contacts.code && contacts.contacts == server.contacts.contacts
                && contacts.requests == server.contacts.requests && contacts.blocked == server.contacts.blocked
                && contacts.isApprovalRequired == server.contacts.isApprovalRequired,
            "\(name) shows other contacts than the server has: \(contacts), not \(server.contacts)")
        try require(
            notifications.history == server.notifications.notifications
                && notifications.unreadCount == server.notifications.unread,
            "\(name) shows other notifications than the server has: \(notifications), not \(server.notifications)")
        let kept = try await world.kept(on: person).items.filter { $0.unsent == nil }
        try require(kept.isEmpty, "\(name) still keeps \(kept.map { "\($0.command) of \($0.acted)" })")
    }
}

extension WorldDecision {
    fileprivate var isFailed: Bool { if case .failed = outcome { true } else { false } }

    /// Whether it ends the change. What never happened is sent again, unless the server fails again and again.
    fileprivate var isFinal: Bool {
        guard case .rejected(let rejection) = outcome else { return false }
        return !Self.neverHappened.contains(APIError(rejection).code)
    }

    /// A list of its own: that of the apps is what a play doubts.
    private static let neverHappened: Set<APIError.Code> = [.expired, .idTooOld, .accountNotFound, .hostChanged]
}
