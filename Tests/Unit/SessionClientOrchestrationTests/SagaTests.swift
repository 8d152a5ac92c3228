import QuartetAPI
import QuartetContactsContract
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import Testing

@testable import QuartetSessionClientOrchestration

/// Steps whose services answer as the test says, at once.
private final class Steps: SagaSteps {
    let id = ID<OperationSubject>.new()
    let account = AccountID.new()
    let startedAt = Instant.now
    private let answer: @Sendable (String) throws -> Outcome
    private let log = Mutex<[String]>([])

    init(_ answer: @escaping @Sendable (String) throws -> Outcome) {
        self.answer = answer
    }

    /// What was asked, in order, and what was asked anew.
    var asked: [String] { log.withLock(\.self) }

    func ask(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID
    ) async throws -> Outcome {
        log.withLock { $0.append("\(domain)/\(name)") }
        return try answer(name)
    }

    func askAnew(_ name: String) async throws { log.withLock { $0.append("anew/\(name)") } }
    func reportClosure() async throws { log.withLock { $0.append("closure") } }
}

@Suite("Sagas")
struct SagaTests {
    private static let accepted = Outcome.accepted(event: nil)

    private static func cleared(_ contacts: [AccountID]) throws -> Outcome {
        let event = ReceivedPingsCleared(account: .new(), contacts: contacts, isClearing: true, at: .now)
        return .accepted(
            event: CausedEvent(
                partition: Partition(0), position: Position(1), type: ReceivedPingsCleared.type,
                body: try event.encoded()))
    }

    @Test("pings that are cleared are answered, each pinger once, and then the caller is checked in")
    func clearAll() async throws {
        let pingers = (0..<20).map { _ in AccountID.new() }
        let steps = Steps { $0 == "clear" ? try Self.cleared(pingers) : Self.accepted }
        let saga = try ClearAllReceivedPingsSaga.decoded(from: Array(#"{"checkIn":true}"#.utf8))
        let result = try await saga.run(steps)
        #expect(result.contacts == pingers && result.isCheckedIn == true)
        #expect(steps.asked.first == "contacts/clear" && steps.asked.last == "session/checkIn")
        let told =
            pingers.map { "notifications/acknowledge/\($0)" }
            + ["notifications/clearNotifications", "notifications/summary"]
        #expect(steps.asked.dropFirst().dropLast().sorted() == told.sorted())
    }

    @Test("more pings than one command answers take as many as that, and their notifications are cleared in parts")
    func clearMany() async throws {
        let pingers = (0..<ReceivedPingsCleared.limit + 3).map { _ in AccountID.new() }
        let (first, others) = (Array(pingers.dropLast(3)), Array(pingers.suffix(3)))
        let steps = Steps { name in
            switch name {
            case "clear", "respond": return try Self.cleared(first)
            case "clear/2", "respond/2": return try Self.cleared(others)
            default: return Self.accepted
            }
        }
        let result = try await ClearAllReceivedPingsSaga.decoded(from: Array("{}".utf8)).run(steps)
        #expect(result.contacts == pingers)
        #expect(Array(steps.asked.prefix(2)) == ["contacts/clear", "contacts/clear/2"])
        #expect(steps.asked.count { $0.hasPrefix("notifications/clearNotifications") } == 2)
        let responded = try await RespondToAllPingsSaga(RespondToAllPingsRequest()).run(steps)
        #expect(responded.contacts == pingers && steps.asked.contains("contacts/respond/2"))

        let event = ReceivedPingsCleared(account: .new(), contacts: first, isClearing: true, at: .now)
        let parts = ClearNotifications.ofPings(in: event)
        for part in parts { try part.validate() }
        #expect(parts.flatMap { $0.selection.subjects ?? [] } == first)
        #expect(try event.encoded().count <= Message.bodyLimit)
    }

    @Test("the second command for pings is asked again if it fails; if the account is closed by then, that is the end")
    func clearManyInterrupted() async throws {
        let pingers = (0..<ReceivedPingsCleared.limit).map { _ in AccountID.new() }
        let failing = Steps { name in
            switch name {
            case "respond": return try Self.cleared(pingers)
            case "respond/2": return .failed(code: "crashed")
            default: return Self.accepted
            }
        }
        let failed = await #expect(throws: SagaError.self) {
            try await RespondToAllPingsSaga(RespondToAllPingsRequest()).run(failing)
        }
        #expect(failed?.isFinal == false && failing.asked.contains("anew/respond/2"))
        let closed = Steps { name in
            switch name {
            case "respond": return try Self.cleared(pingers)
            case "respond/2": return .rejected(Rejection(.accountClosed, "Closed."))
            default: return Self.accepted
            }
        }
        let result = try await RespondToAllPingsSaga(RespondToAllPingsRequest()).run(closed)
        #expect(result.contacts == pingers)
    }

    @Test("where nothing waits, nothing is told; a check-in a moment ago is as good")
    func nothingWaits() async throws {
        let steps = Steps { $0 == "checkIn" ? .rejected(Rejection(.tooSoon, "Wait.")) : Self.accepted }
        let saga = try ClearAllReceivedPingsSaga.decoded(from: Array(#"{"checkIn":true}"#.utf8))
        let result = try await saga.run(steps)
        #expect(result == .init(contacts: [], isCheckedIn: false))
        #expect(steps.asked == ["contacts/clear", "session/checkIn"])
    }

    @Test("the step that decides may refuse: then nothing else is asked")
    func refused() async {
        let steps = Steps { _ in .rejected(Rejection(.accountClosed, "Closed.")) }
        let rejection = await #expect(throws: Rejection.self) { try await CloseAccountSaga(by: .new()).run(steps) }
        #expect(rejection?.code == .accountClosed && steps.asked == ["session/session"])
        let failing = Steps { _ in .failed(code: "crashed") }
        let error = await #expect(throws: SagaError.self) { try await CloseAccountSaga(by: .new()).run(failing) }
        #expect(error?.isFinal == true)
    }

    @Test(
        "a later step that fails or is refused is asked again under another id: what was decided isn't left half done")
    func laterSteps() async {
        let failing = Steps { $0 == "contacts" ? .failed(code: "crashed") : Self.accepted }
        let failed = await #expect(throws: SagaError.self) { try await CloseAccountSaga(by: .new()).run(failing) }
        #expect(
            failed?.isFinal == false && failing.asked.contains("anew/contacts") && !failing.asked.contains("closure"))
        #expect(failing.command(of: "contacts") != failing.command(of: "contacts", attempt: 2))
        let refusing = Steps { $0 == "contacts" ? .rejected(Rejection(.notFound, "No.")) : Self.accepted }
        let refused = await #expect(throws: SagaError.self) { try await CloseAccountSaga(by: .new()).run(refusing) }
        #expect(refused?.isFinal == false && refusing.asked.contains("anew/contacts"))
        #expect(!SagaError.changed(step: "contacts").isFinal, "a process of the version that fits goes on")
    }

    @Test("a record that can't be read waits for a version that can; one that was emptied ends its saga")
    func records() {
        #expect(!SagaError.unreadable(step: "contacts").isFinal)
        #expect(SagaError.emptied(step: "contacts").isFinal)
    }

    @Test("every saga that is recorded can be read again")
    func recorded() throws {
        let sagas: [any Saga] = [
            try ClearAllReceivedPingsSaga.decoded(from: Array(#"{"upTo":1}"#.utf8)),
            RespondToAllPingsSaga(RespondToAllPingsRequest(upTo: Instant(microseconds: 2))),
            SignOutSaga(device: .new()), CloseAccountSaga(by: .new()),
        ]
        var names: Set<String> = []
        for saga in sagas {
            let name = type(of: saga).type
            let read = try AnySaga(type: name, version: 1, body: try saga.encoded()).body
            let (before, after) = (try saga.encoded(), try read.encoded())
            #expect(before == after)
            names.insert(name)
        }
        for type in AnySaga.types { #expect(names.contains(type.type)) }
        for name in appOperations.keys { #expect(names.contains(name)) }
    }

    @Test("every command that apps may send is one service's, in whichever form they send it")
    func appCommandsAreOneServices() {
        for name in appCommands.keys { #expect(Domain.ofAppCommands[name] != nil, "\(name)") }
        let others = [
            "OpenAccount", "MissCheckIn", "RepeatAlarm", "DeliverNotification", "RenewEdge", "ConnectParticipant",
            "DropParticipant", "WithdrawInvitations", "ExpireGroupSession", "ExpireSuspension",
        ]
        for name in others { #expect(appCommands[name] == nil, "\(name) is for timers, policies and the edge") }
    }
}
