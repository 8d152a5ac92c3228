import Foundation
import QuartetAPI
public import QuartetClient
public import QuartetVocabulary
import Synchronization

/// Somebody in a world, with an app on one device.
///
/// The app can be killed and started again, so keep the person and not its clients: ``quartet`` and what follows from it are those of
/// the app that runs.
public final class WorldPerson: Sendable {
    /// One run of the app.
    struct App: Sendable {
        let connection: Connection
        let quartet: Quartet
        let life: WorldLife
    }

    public let handle: String
    let device: WorldDevice
    private let app: Mutex<App>
    private let account = Mutex<AccountID?>(nil)

    init(_ handle: String, _ device: WorldDevice, _ app: App) {
        (self.handle, self.device) = (handle, device)
        self.app = Mutex(app)
    }

    private var running: App { app.withLock { $0 } }

    public var connection: Connection { running.connection }
    /// All clients of the app.
    public var quartet: Quartet { running.quartet }
    public var id: AccountID { account.withLock { $0 } ?? AccountID(high: 0, low: 0) }
    public var session: SessionClient { quartet.session }
    public var user: UserClient { quartet.user }
    public var contacts: ContactsClient { quartet.contacts }
    public var notifications: NotificationsClient { quartet.notifications }
    public var groups: GroupSessionClient { quartet.groups }
    public var playback: PlaybackClient { quartet.playback }
    /// Whether the app runs: it wasn't killed.
    public var isRunning: Bool { !life.isOver }

    /// The device's name in the world: the handle, or `handle/2` and so on.
    package var deviceName: String { device.name }

    static let password = "correct horse battery"

    var life: WorldLife { running.life }

    func use(_ next: App) { app.withLock { $0 = next } }

    func signUp() async throws(QuartetError) {
        _ = try await session.signUp(
            SignUpRequest(handle: handle, password: Self.password, name: handle.capitalized))
        noteAccount()
    }

    /// Signs in on this device, where nobody is signed in or the server has signed the device out.
    public func signIn() async throws(QuartetError) {
        try await session.signIn(SignInRequest(handle: handle, password: Self.password))
        noteAccount()
    }

    private func noteAccount() {
        let known = session.session.value.account
        account.withLock { $0 = known ?? $0 }
    }

    /// Whether its app has nothing left to do.
    func isSettled(_ isFollowed: Bool) -> Bool {
        guard isRunning else { return true }
        let connection = connection
        if connection.state.needsSignIn { return true }
        return connection.state == .connected && isFollowed && connection.outbox.items.value.isEmpty
    }

    var trouble: String {
        "\(device.name) is \(connection.state), with \(connection.outbox.items.value.count) changes to send"
    }
}
