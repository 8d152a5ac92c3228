#if canImport(SwiftUI)
    public import QuartetClient
    public import SwiftUI

    /// Shared state that a view reads: `@Observed(\.contacts.contacts) var contacts`, then `contacts.responders`. The view is drawn again
    /// when a member changes that it read. Its clients are those of the environment.
    @MainActor
    @propertyWrapper
    public struct Observed<Value: Hashable & Sendable>: DynamicProperty {
        @Environment(\.quartet) private var quartet
        private let path: KeyPath<Quartet, SharedState<Value>>

        public init(_ path: KeyPath<Quartet, SharedState<Value>>) {
            self.path = path
        }

        public var wrappedValue: SharedState<Value> { quartet[keyPath: path] }
    }

    /// A view of shared state in each of its phases. Older state stays, and says since when it is old.
    public struct RemoteView<Value: Hashable & Sendable, Loading: View, Failed: View, Content: View>: View {
        private let state: SharedState<Value>
        private let loading: () -> Loading
        private let failed: (ConnectionError) -> Failed
        private let content: (SharedState<Value>, _ staleSince: Instant?) -> Content

        public init(
            _ state: SharedState<Value>, @ViewBuilder loading: @escaping () -> Loading = { ProgressView() },
            @ViewBuilder failed: @escaping (ConnectionError) -> Failed = { FailureView($0) },
            @ViewBuilder content: @escaping (SharedState<Value>, _ staleSince: Instant?) -> Content
        ) {
            self.state = state
            self.loading = loading
            self.failed = failed
            self.content = content
        }

        public var body: some View {
            switch state.phase {
            case .loading: loading()
            case .ready: content(state, nil)
            case .stale(let since): content(state, since)
            case .failed(let error): failed(error)
            }
        }
    }

    /// What went wrong, and a button that tries again.
    public struct FailureView: View {
        private let error: ConnectionError

        public init(_ error: ConnectionError) {
            self.error = error
        }

        public var body: some View {
            ContentUnavailableView {
                Label(Texts.current.sentence(error.state), systemImage: "wifi.slash")
            } description: {
                Text(Texts.current.sentence(lost: error))
            } actions: {
                RetryButton()
            }
        }
    }

    /// Begins again after the policy has given up.
    public struct RetryButton: View {
        @Environment(\.quartetConnection) private var connection

        public init() {}

        public var body: some View {
            Button(Texts.current["connection.retry"], systemImage: "arrow.clockwise") { connection?.retry() }
                .disabled(connection?.state.canConnect != true)
        }
    }
#endif
