import Observation
import QuartetClientTesting
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct StoreTests {
    private struct Search: Hashable, Sendable {
        var text = ""
        var results: [String] = []
    }

    private enum Action: Equatable, Sendable {
        case textChanged(String)
        case found([String])
        case cleared
    }

    /// Answers when the test lets it.
    /// - Parameter ended: Counts the effects that have ended.
    private static func reducer(
        _ answers: Observed<[String: [String]]>, ended: Observed<Int> = Observed(0)
    ) -> SharedStore<Search, Action>.Reducer {
        { state, action in
            switch action {
            case .textChanged(let text):
                state.text = text
                return .run(id: "search") { send in
                    if let found = try? await answers.wait("an answer", until: { $0[text] }) { send(.found(found)) }
                    ended.update { $0 += 1 }
                }
            case .found(let results):
                state.results = results
                return .none
            case .cleared:
                state = Search()
                return .cancel(id: "search")
            }
        }
    }

    @Test(
        "several screens show one state and have one of their own; a reader is woken only for what it read (S12, S19)"
    )
    func screens() {
        let store = SharedStore<Search, Action>(Search(), reducer: Self.reducer(Observed([:])))
        let (one, other) = (store.screen(0), store.screen(0))
        let wakes = Mutex(0)
        withObservationTracking {
            _ = one.results
        } onChange: {
            wakes.withLock { $0 += 1 }
        }
        one.send(.textChanged("an"))
        #expect(one.text == "an" && other.text == "an" && wakes.withLock { $0 } == 0)
        one.update { $0 = 7 }
        #expect(one.local == 7 && other.local == 0)
        other.send(.found(["anna"]))
        #expect(one.results == ["anna"] && wakes.withLock { $0 } == 1)
    }

    @Test("an effect of an id replaces the one before it, and one that is cancelled sends nothing (S12)")
    func cancellation() async throws {
        let (answers, ended) = (Observed<[String: [String]]>([:]), Observed(0))
        let store = SharedStore<Search, Action>(Search(), reducer: Self.reducer(answers, ended: ended))
        store.send(.textChanged("a"))
        store.send(.textChanged("an"))
        answers.update { $0["a"] = ["wrong"] }
        try await ended.wait("the first to end") { $0 == 1 ? true : nil }
        #expect(store.results == [])
        answers.update { $0["an"] = ["anna"] }
        await store.values(of: \.results).wait { !$0.isEmpty }
        #expect(store.results == ["anna"])
        store.send(.textChanged("b"))
        store.send(.cleared)
        answers.update { $0["b"] = ["bob"] }
        try await ended.wait("the last to end") { $0 == 3 ? true : nil }
        #expect(store.state == Search())
    }

    @Test("actions that are sent while one is reduced or observed come after it, in their order")
    func order() {
        let store = SharedStore<[Int], Int>([]) { state, action in
            state.append(action)
            return .none
        }
        withObservationTracking {
            _ = store.count
        } onChange: {
            // Observers are called when the change was made, and no lock is held.
            store.send(2)
            store.send(3)
        }
        store.send(1)
        #expect(store.state == [1, 2, 3])
    }

    @Test("an action that the reducer itself sends comes after the one that it reduces")
    func reentrance() {
        let sender = Observed<(@Sendable (Int) -> Void)?>(nil)
        let store = SharedStore<[Int], Int>([]) { state, action in
            if action == 1 { sender.value?(2) }
            state.append(action)
            return .none
        }
        sender.update { sender in sender = { [weak store] action in store?.send(action) } }
        store.send(1)
        #expect(store.state == [1, 2])
    }

    @Test("the test store accepts what a test expects to the last detail (T28)")
    func accepts() async {
        let answers = Observed<[String: [String]]>(["an": ["anna"]])
        let store = SharedTestStore(Search(), reducer: Self.reducer(answers))
        store.send(.textChanged("an")) { $0.text = "an" }
        await store.receive(.found(["anna"])) { $0.results = ["anna"] }
        store.send(.cleared) { $0 = Search() }
        await store.finish()
    }

    @Test(
        "the test store fails for a wrong state, a wrong action and one that nobody expects, and shows what differs (T28)"
    )
    func fails() async {
        let answers = Observed<[String: [String]]>(["an": ["anna"]])
        let store = SharedTestStore(Search(), reducer: Self.reducer(answers))
        withKnownIssue {
            store.send(.textChanged("an")) { $0.text = "am" }
        } matching: { issue in
            let text = issue.comments.map(\.rawValue).joined()
            return text.contains("-   - text: \"am\"\n+   - text: \"an\"") && !text.contains("results: 1")
        }
        await withKnownIssue {
            await store.receive(.cleared) { $0.results = ["anna"] }
        } matching: {
            $0.comments.map(\.rawValue).joined().contains("another action")
        }
        store.send(.textChanged("an"))
        await withKnownIssue {
            await store.finish()
        } matching: {
            $0.comments.map(\.rawValue).joined().contains("not expected: .found([\"anna\"])")
        }
    }

    @Test("the test store fails when what a test waits for never comes, and for what came unseen (T28)")
    func missing() async throws {
        let silent = SharedTestStore<Int, Int>(0) { state, action in
            state = action
            return .run { _ in }
        }
        silent.send(1) { $0 = 1 }
        await withKnownIssue {
            await silent.receive(2)
        } matching: {
            $0.comments.map(\.rawValue).joined().contains("2 was not received")
        }
        await silent.finish()
        let hasSent = Observed(false)
        try await withKnownIssue {
            let store = SharedTestStore<Int, Int>(0) { state, action in
                state = action
                return .run { send in
                    send(2)
                    hasSent.update { $0 = true }
                }
            }
            store.send(1) { $0 = 1 }
            try await hasSent.wait("the effect to send") { $0 ? true : nil }
            withExtendedLifetime(store) {}
        } matching: {
            $0.comments.map(\.rawValue).joined().contains("not expected: 2")
        }
    }
}
