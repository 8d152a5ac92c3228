#if canImport(SwiftUI)
    public import QuartetClient
    public import SwiftUI

    extension EnvironmentValues {
        private enum ConnectionKey: EnvironmentKey {
            static var defaultValue: Connection? { nil }
        }

        private enum ClientsKey: EnvironmentKey {
            static var defaultValue: Quartet { .current }
        }

        /// The connection that ``SwiftUICore/View/quartet(_:_:)`` set.
        public var quartetConnection: Connection? {
            get { self[ConnectionKey.self] }
            set { self[ConnectionKey.self] = newValue }
        }

        /// The clients that ``SwiftUICore/View/quartet(_:_:)`` set; those of the app elsewhere.
        public var quartet: Quartet {
            get { self[ClientsKey.self] }
            set { self[ClientsKey.self] = newValue }
        }
    }

    extension View {
        /// Keeps a connection for as long as the view is there, and gives what is in it the clients.
        ///
        /// ```swift
        /// WindowGroup { ContentView().quartet(connection) }
        /// ```
        /// A connection that died while the app was in the background is opened again when it comes back.
        /// - Parameter quartet: The connection's own clients, unless a preview has others.
        @MainActor
        public func quartet(_ connection: Connection, _ quartet: Quartet? = nil) -> some View {
            modifier(ConnectionModifier(connection: connection))
                .environment(\.quartetConnection, connection)
                .environment(\.quartet, quartet ?? .live(connection))
        }

        /// Keeps the connection of whichever account is shown, and those that have something to send, for as long as the view is there, and gives
        /// what is in it the clients of the account that is shown. Views are made anew for another account, so that nothing that one of
        /// them keeps is taken along. While nobody is shown, the clients are those with which somebody signs in.
        ///
        /// ```swift
        /// WindowGroup { ContentView().quartet(accounts) }
        /// ```
        @MainActor
        public func quartet(_ accounts: DeviceAccounts) -> some View {
            modifier(AccountsModifier(accounts: accounts))
        }

        /// Shows something else while there is no connection, and none is being made.
        @MainActor
        public func whenDisconnected(@ViewBuilder _ content: @escaping () -> some View) -> some View {
            modifier(DisconnectedModifier(instead: content))
        }

        /// Calls `action` with the state now and with each one that follows.
        @MainActor
        public func onConnectionChange(_ action: @escaping @MainActor (ConnectionState) -> Void) -> some View {
            modifier(ChangeModifier(action: action))
        }
    }

    private struct ConnectionModifier: ViewModifier {
        let connection: Connection
        @Environment(\.scenePhase) private var phase

        func body(content: Content) -> some View {
            content
                // Of several windows, one runs it. When that one is closed, another goes on.
                .task { await connection.run() }
                .onChange(of: phase) { if phase == .active { connection.wake() } }
        }
    }

    private struct AccountsModifier: ViewModifier {
        let accounts: DeviceAccounts
        @Environment(\.scenePhase) private var phase

        func body(content: Content) -> some View {
            // Read once: all that follows is about the same account.
            let current = accounts.current
            content
                .id(current.account)
                .environment(\.quartetConnection, current.connection)
                .environment(\.quartet, current.quartet)
                // Outside of what is made anew, so a switch ends nothing.
                .task { await accounts.run() }
                .onChange(of: phase) { if phase == .active { accounts.wake() } }
        }
    }

    private struct DisconnectedModifier<Instead: View>: ViewModifier {
        @ViewBuilder let instead: () -> Instead
        @Environment(\.quartetConnection) private var connection

        func body(content: Content) -> some View {
            if let connection, !connection.state.isConnected, !connection.state.isTransitioning {
                instead()
            } else {
                content
            }
        }
    }

    private struct ChangeModifier: ViewModifier {
        let action: @MainActor (ConnectionState) -> Void
        @Environment(\.quartetConnection) private var connection

        func body(content: Content) -> some View {
            content.task(id: connection.map(ObjectIdentifier.init)) {
                guard let connection else { return }
                for await state in connection.states { action(state) }
            }
        }
    }
#endif
