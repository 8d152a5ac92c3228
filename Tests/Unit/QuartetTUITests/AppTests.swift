import Foundation
import Synchronization
import TestKit
import Testing

@testable import QuartetClient
@testable import quartet_tui

/// A server that signs anybody in, and starts a session once it may.
private final class Desk: Transport {
    static let (anna, bob, group) = (AccountID.new(), AccountID.new(), GroupID.new())

    /// Whose token each start came with.
    let starts = Observed<[String]>([])
    /// How many of them may be answered.
    let answers = Observed(0)

    func send(_ request: TransportRequest) async throws -> TransportReply {
        let now = Instant.now
        switch request.endpoint {
        case .serverTime: return TransportReply(.success([]), serverTime: now)
        case .signIn:
            let handle = try JSONDecoder().decode(SignInRequest.self, from: Data(request.body)).handle ?? ""
            return TransportReply(.success(try Self.signedIn(handle)), serverTime: now)
        case .token:
            let token = try JSONDecoder().decode(TokenRequest.self, from: Data(request.body)).refreshToken
            return TransportReply(.success(try Self.signedIn(String(token.prefix { $0 != "-" }))), serverTime: now)
        case .command("CreateGroupSession"):
            let number = starts.update { starts in
                starts.append(request.token ?? "")
                return starts.count
            }
            try await answers.wait("that it may answer") { $0 >= number ? true : nil }
            let created = GroupSessionCreated(
                group: Self.group, account: Self.anna,
                activity: GroupSessionActivity(identifier: GroupSessionActivity.fourInARow, title: "Four in a row"),
                capacity: 8, seats: 5, isOpenToContacts: true, at: now)
            let head =
                #"{"outcome":"accepted","command":"\#(CommandID.new())","event":"GroupSessionCreated","result":"#
            return TransportReply(
                .success(Array(head.utf8) + (try created.encoded()) + Array("}".utf8)), serverTime: now)
        default: throw TransportError.unreachable("nothing else is asked for")
        }
    }

    /// Tokens begin with their owner's handle.
    private static func signedIn(_ handle: String) throws -> [UInt8] {
        let reply = SignedIn(
            account: handle == "anna" ? anna : bob, device: .new(), accessToken: handle, expiresIn: 900,
            refreshToken: "\(handle)-\(UUID())")
        return Array(try JSONEncoder().encode(reply))
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        throw TransportError.unreachable("there are no streams")
    }
}

@Suite("What the app does for a key", .timeLimit(.minutes(10)))
struct AppTests {
    @Test(
        "a session that one account starts opens on its own screens, and not on those that somebody chose meanwhile (R12)"
    )
    @MainActor
    func account() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tui-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let desk = Desk()
        let accounts = DeviceAccounts(inMemory: { desk })
        for handle in ["bob", "anna"] {
            try await accounts.current.quartet.session.signIn(SignInRequest(handle: handle, password: "x"))
        }
        let device = try Device(Settings(["--folder", folder.path], [:]))
        let app = App(accounts, on: device, server: nil, terminal: Terminal())
        // Somebody switches while the server takes its time.
        let slow = app.perform(.newGame)
        try await desk.starts.wait("a start") { $0.isEmpty ? nil : true }
        try await accounts.show(Desk.bob)
        desk.answers.update { $0 = 1 }
        await slow?.value
        #expect(app.model.group == nil && app.model.notice == nil)
        // Nobody does the next time.
        try await accounts.show(Desk.anna)
        desk.answers.update { $0 = 2 }
        await app.perform(.newGame)?.value
        #expect(app.model.group == Desk.group && app.model.notice == nil)
        #expect(desk.starts.value == ["anna", "anna"])
        // A key that comes before the screens of another account are drawn was meant for these.
        app.watchAccount()
        app.model.dialog = .init(
            form: Form(title: "?", fields: [.init(label: "Start", kind: .button)]), purpose: .confirm(.newGame))
        try await accounts.show(Desk.bob)
        app.press(.enter)
        #expect(app.model.dialog == nil && desk.starts.value.count == 2)
        app.model.dialog = .init(
            form: Form(title: "?", fields: [.init(label: "Raise", kind: .button)]), purpose: .confirm(.raiseAlert))
        try await accounts.show(Desk.anna)
        app.press(.enter)
        #expect(app.model.dialog == nil && app.model.notice?.isError == true)
    }
}
