import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// Edits of one thing that wait and were never sent are sent as one.
@Suite(.timeLimit(.minutes(10)))
struct JoiningTests {
    static func edit(_ user: UserClient, name: String? = nil, note: String? = nil) async throws(QuartetError) {
        let old = user.user.profile
        var new = old
        if let name { new.name = name }
        if let note { new.emergencyNote = note }
        try await user.updateProfile(Edit(base: old, edit: new))
    }

    /// What the server has after these commands.
    static func profile(after commands: some Sequence<[UInt8]>) throws -> (name: String?, note: String?) {
        var (name, note): (String?, String?) = (nil, nil)
        for body in commands {
            let command = try JSONDecoder().decode(UpdateProfile.self, from: Data(body))
            (name, note) = (command.name ?? name, command.emergencyNote ?? note)
        }
        return (name, note)
    }

    @Test("whoever gives a name isn't asked for one while it waits, and is asked again if it is refused (S14, S44)")
    func onboarding() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await whileRunning(app.connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(
                .account, AccountState(account: Server.account, handle: "anna", onboarding: .needsProfile))
            try stream.begin(.contacts, ContactsState(account: Server.account))
            try stream.begin(.notifications, NotificationsState(account: Server.account))
            try stream.begin(.operations, OperationsPage?.none)
            try await app.connection.ready()
            #expect(app.user.user.needsOnboarding)
            app.connection.disconnect()
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await Self.edit(app.user, name: "Anna") }
            #expect(app.user.user.name == "Anna" && app.user.user.onboarding == .done)
            server.state.withLock { $0.replies = [.failure(APIError(.invalidField))] }
            server.goOnline()
            app.connection.outbox.retry()
            await server.passTime { app.user.user.name == nil }
            #expect(app.user.user.needsOnboarding)
        }
    }

    @Test("without a network a thousand edits of a name take the place of one, and the last one is sent (P33)")
    func offline() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.goOffline()
            for number in 1...1000 {
                await #expect(throws: QuartetError.willBeSentWhenOnline) {
                    try await Self.edit(app.user, name: "name-\(number)")
                }
            }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await Self.edit(app.user, note: "note") }
            #expect(app.user.user.name == "name-1000" && app.user.user.emergencyNote == "note")
            #expect(app.connection.outbox.items.value.count == 1)
            // Nobody waits for them any more.
            #expect(app.connection.outbox.state.withLock { $0.joined.values.allSatisfy { $0.count <= 1 } })
            let before = server.commands.count
            server.goOnline()
            app.connection.outbox.retry()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            let sent = server.commands.dropFirst(before)
            let end = try Self.profile(after: sent.map(\.body))
            #expect(sent.count == 1 && end == ("name-1000", "note"))
        }
    }

    @Test("quick edits are few commands, the last one wins, and each call ends with what became of it (P33)")
    func online() async throws {
        for isRefused in [false, true] {
            let server = Server()
            let app = OutboxApp(server)
            let gate = Observed(false)
            try await app.connected(server) { _ in
                server.transport.answer { request in
                    if case .command = request.endpoint { try await gate.wait("it is answered") { $0 ? true : nil } }
                    return try server.answer(request)
                }
                let refusal = APIError(.invalidField)
                var calls: [Task<Void, any Error>] = []
                for number in 1...200 {
                    let last = app.connection.outbox.items.value.last?.id
                    calls.append(Task { try await Self.edit(app.user, name: "name-\(number)") })
                    await app.connection.outbox.items.values.wait { $0.last?.id != last }
                    // It is on its way before the next one comes.
                    if number == 1 { while server.commands.isEmpty { await Task.yield() } }
                }
                #expect(app.connection.outbox.items.value.count == 2 && app.user.user.name == "name-200")
                server.state.withLock {
                    let last: Result<[UInt8], APIError> = isRefused ? .failure(refusal) : .success(Server.accepted())
                    $0.replies = [.success(Server.accepted()), last]
                }
                gate.update { $0 = true }
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                try await calls.removeFirst().value
                for call in calls {
                    switch await call.result {
                    case .success: #expect(!isRefused)
                    case .failure(let error): #expect(isRefused && error as? QuartetError == .refused(refusal))
                    }
                }
                let end = try Self.profile(after: server.commands.map(\.body))
                #expect(server.commands.count == 2 && end.name == "name-200")
            }
        }
    }

    @Test("of a contact, edits of several fields are one command; what may have happened keeps its body and key (P33)")
    func sentOnes() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.transport.answer { request in
                if case .command = request.endpoint { throw TransportError.interrupted("the answer") }
                return try server.answer(request)
            }
            @Sendable func update(_ change: (inout ContactFields) -> Void) async throws {
                let contact = try #require(app.contacts.contacts.contact(by: OutboxApp.one))
                var fields = ContactFields(contact)
                change(&fields)
                try await app.contacts.update(contact.account, Edit(base: ContactFields(contact), edit: fields))
            }
            for index in 1...4 {
                await #expect(throws: QuartetError.willBeSentWhenOnline) {
                    try await update { if index % 2 == 0 { $0.notes = "n\(index)" } else { $0.nickname = "m\(index)" } }
                }
            }
            let items = app.connection.outbox.items.value
            #expect(items.map(\.canCancel) == [false, true])
            let first = try #require(server.commands.last)
            server.goOnline()
            app.connection.outbox.retry()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            let sent = Array(server.commands.suffix(2))
            #expect(sent.first?.key == first.key && sent.first?.body == first.body)
            let second = try JSONDecoder().decode(UpdateContact.self, from: Data(try #require(sent.last).body))
            #expect(second.nickname == "m3" && second.notes == "n4" && sent.last?.key != first.key)
        }
    }

    @Test("a joined edit does what its parts do, in whatever order they change which fields (P33)")
    func property() {
        for seed in 1...200 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let value = { (random: inout SeededRandom) in ["a", "b", "c"].randomElement(using: &random) ?? "a" }
            let start = ProfileFields(name: "a", emergencyNote: "a")
            var (shown, joined): (ProfileFields, Edit<ProfileFields>?) = (start, nil)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                var next = shown
                let (drawn, isName) = (value(&random), Bool.random(using: &random))
                if isName { next.name = drawn } else { next.emergencyNote = drawn }
                let edit = Edit(base: shown, edit: next)
                // Where nothing is left of both, both are sent.
                joined = joined.map { edit.merged(after: $0) } ?? edit
                shown = next
                guard let joined else { break }
                #expect(joined.merged(with: start) == shown, "seed \(seed)")
                #expect(joined.conflicts(with: start).isEmpty, "seed \(seed)")
            }
        }
    }

    @Test("whatever fails, the last edit wins, no call hangs, and there are no more commands than edits (P33)")
    func trouble() async throws {
        for seed in 1...12 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let server = Server()
            let app = OutboxApp(server)
            var steps: [Int] = []
            for _ in 0..<40 { steps.append(Int.random(in: 0..<10, using: &random)) }
            let plan = steps
            // Every other edit is one of the note.
            let note = plan.enumerated().last { $0.element > 5 && $0.offset % 2 == 1 }.map { "note-\($0.offset)" }
            try await app.connected(server) { _ in
                var calls: [Task<Void, any Error>] = []
                for (number, step) in plan.enumerated() {
                    switch step {
                    case 0: server.goOffline()
                    case 1, 2: server.goOnline()
                    case 3: server.state.withLock { $0.lost.append(.interrupted("the answer")) }
                    case 4: server.state.withLock { $0.replies.append(.failure(APIError(.overloaded, retryAfter: 1))) }
                    case 5: server.clock.advance(by: .seconds(2))
                    default:
                        let (last, isOver) = (app.connection.outbox.items.value.last?.id, Observed(false))
                        calls.append(
                            Task {
                                defer { isOver.update { $0 = true } }
                                if number % 2 == 1 {
                                    try await Self.edit(app.user, note: "note-\(number)")
                                } else {
                                    try await Self.edit(app.user, name: "name-\(number)")
                                }
                            })
                        // The next one comes after it.
                        while !isOver.value, app.connection.outbox.items.value.last?.id == last { await Task.yield() }
                    }
                }
                server.goOnline()
                app.connection.outbox.retry()
                calls.append(Task { try await Self.edit(app.user, name: "last") })
                let open = Observed(calls.count)
                for call in calls {
                    Task {
                        _ = await call.result
                        open.update { $0 -= 1 }
                    }
                }
                await server.passTime { open.value == 0 && app.connection.outbox.items.value.isEmpty }
                let keys = Set(server.commands.map(\.key))
                let end = try Self.profile(after: server.commands.map(\.body))
                #expect(keys.count <= calls.count && end == ("last", note), "seed \(seed)")
            }
        }
    }

    @Test("an edit that is going to be refused doesn't take a later one along (P33)")
    func conflicting() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { stream in
            server.transport.answer { request in
                if case .command = request.endpoint { throw TransportError.unreachable("no network") }
                return try server.answer(request)
            }
            let change = { @Sendable (change: @Sendable (inout ContactFields) -> Void) async throws -> Void in
                let contact = try #require(app.contacts.contacts.contact(by: OutboxApp.one))
                var fields = ContactFields(contact)
                change(&fields)
                let edit = Edit(base: ContactFields(contact), edit: fields)
                await #expect(throws: QuartetError.willBeSentWhenOnline) {
                    try await server.passingTime { try await app.contacts.update(contact.account, edit) }
                }
            }
            try await change { $0.nickname = "mine" }
            var theirs = Contact(OutboxApp.one, nickname: "theirs", version: 2)
            theirs.notes = "from elsewhere"
            try stream.send(
                ContactUpdated(
                    account: Server.account, contact: theirs, by: Server.account, rolesChanged: false,
                    isAcceptance: false), at: 11)
            await app.contacts.contacts.values.wait { $0.contact(by: OutboxApp.one)?.notes == "from elsewhere" }
            try await change { $0.sendPings = false }
            // Each may just be on its way, in vain.
            await app.connection.outbox.items.values.wait { $0.map(\.canCancel) == [true, true] }
        }
    }

    /// A refusal that says what somebody else has made of the profile.
    static func refusal(name: String, note: String) throws -> APIError {
        var state = AccountState(account: Server.account, handle: "anna", name: name, profileVersion: 7)
        state.emergencyNote = note
        var error = APIError(.staleVersion)
        error.current = try Encoded(state).json
        return error
    }

    @Test("of joined edits, those of a field that somebody else changed are refused, and the others are sent (P33)")
    func partly() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let gate = Observed(false)
        let refusal = try Self.refusal(name: "name-1", note: "theirs")
        try await app.connected(server) { _ in
            server.transport.answer { request in
                if case .command = request.endpoint { try await gate.wait("it is answered") { $0 ? true : nil } }
                return try server.answer(request)
            }
            let events = app.connection.outbox.events
            var calls: [Task<Void, any Error>] = []
            for number in 1...4 {
                let last = app.connection.outbox.items.value.last?.id
                calls.append(
                    Task {
                        if number == 3 {
                            try await Self.edit(app.user, note: "mine")
                        } else {
                            try await Self.edit(app.user, name: "name-\(number)")
                        }
                    })
                await app.connection.outbox.items.values.wait { $0.last?.id != last }
                if number == 1 { while server.commands.isEmpty { await Task.yield() } }
            }
            let joined = try #require(app.connection.outbox.items.value.last)
            server.state.withLock { $0.replies = [.success(Server.accepted()), .failure(refusal)] }
            gate.update { $0 = true }
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            for (index, call) in calls.enumerated() {
                if index == 2 {
                    let error = await #expect(throws: QuartetError.self) { try await call.value }
                    #expect(error?.code == .staleVersion)
                } else {
                    try await call.value
                }
            }
            let sent = try JSONDecoder().decode(
                UpdateProfile.self, from: Data(try #require(server.commands.last).body))
            #expect(server.commands.count == 3 && sent.name == "name-4" && sent.emergencyNote == nil)
            var refused: [QuartetError?] = []
            for await event in events where event.item.id == joined.id {
                refused.append(event.error)
                if refused.count == 2 { break }
            }
            #expect(refused.first??.code == .staleVersion && refused.last == .some(nil))
        }
    }

    @Test("of signals that wait, the newest whose caller still waits is sent (P33)")
    func cancelledSignals() async throws {
        let turns = SignalTurns()
        let gate = Observed(false)
        let sent = Observed<[Int]>([])
        let subject = SignalTurns.Subject(GroupID(high: 1, low: 1), SignalRequest(topic: "cursor"))
        var calls: [Task<Void, any Error>] = []
        for number in 0...2 {
            calls.append(
                Task {
                    try await turns.run(subject) { () async throws(QuartetError) in
                        if number == 0 { do { try await gate.wait("it may end") { $0 ? true : nil } } catch { return } }
                        sent.update { $0.append(number) }
                    }
                })
            while turns.callers(of: subject) < number + 1 { await Task.yield() }
        }
        calls[2].cancel()
        _ = await calls[2].result
        gate.update { $0 = true }
        for call in calls[..<2] { try await call.value }
        #expect(sent.value == [0, 1] && turns.callers(of: subject) == 0)
    }

    @Test("of the signals of one cursor that wait for one on its way, the newest is sent, and no call hangs (P33)")
    func signals() async throws {
        let turns = SignalTurns()
        let (gate, begun) = (Observed(false), Observed(0))
        let sent = Observed<[Int]>([])
        let subject = SignalTurns.Subject(GroupID(high: 1, low: 1), SignalRequest(topic: "cursor"))
        let other = SignalTurns.Subject(GroupID(high: 1, low: 1), SignalRequest(topic: "typing"))
        let send = { @Sendable (number: Int, subject: SignalTurns.Subject) async throws -> Void in
            begun.update { $0 += 1 }
            try await turns.run(subject) { () async throws(QuartetError) in
                if number == 0 { do { try await gate.wait("it may end") { $0 ? true : nil } } catch { return } }
                sent.update { $0.append(number) }
            }
        }
        let first = Task { try await send(0, subject) }
        try await begun.wait("the first is on its way") { $0 == 1 ? true : nil }
        while turns.callers(of: subject) < 1 { await Task.yield() }
        var calls: [Task<Void, any Error>] = []
        for number in 1...1000 {
            calls.append(Task { try await send(number, subject) })
            while turns.callers(of: subject) < number + 1 { await Task.yield() }
        }
        // Another subject waits for none of them.
        try await send(-1, other)
        gate.update { $0 = true }
        try await first.value
        for call in calls { try await call.value }
        #expect(sent.value == [-1, 0, 1000] && turns.callers(of: subject) == 0)
    }
}
