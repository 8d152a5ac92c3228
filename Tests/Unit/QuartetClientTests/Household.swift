import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetStorage
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// A server that knows several people, and a device that they share.
final class Household: Sendable {
    static let (anna, bob) = (Server.person(1), Server.person(2))

    /// A command that the server has accepted, and whose token it came with.
    struct Done: Hashable, Sendable {
        let command: String
        let handle: String
    }

    private struct State: Sendable {
        var exchanges: UInt64 = 0
        var done: [Done] = []
        var isOnline = true
        /// Whose devices it has signed out.
        var signedOut: Set<String> = []
    }

    let server = Server(isSignedIn: false)
    let folder = FileManager.default.temporaryDirectory.appending(path: "household-\(UUID().uuidString)")
    /// One clock for all processes, which the test moves.
    let time: Timekeeper
    private let state = Mutex(State())
    /// Called with each request before it is answered.
    let onRequest = Mutex<(@Sendable (TransportRequest) -> Void)?>(nil)

    init() {
        var time = server.clock.timekeeper
        time.epoch = "household"
        time.wall = { [clock = server.clock] in Instant(microseconds: 1_800_000_000_000_000) + Interval(clock.now) }
        self.time = time
        server.transport.answer { [weak self] request in
            guard let self else { throw TransportError.unreachable("the test is over") }
            return try self.answer(request)
        }
    }

    deinit {
        // Only what a test left in a temporary folder.
        try? FileManager.default.removeItem(at: folder)
    }

    /// What was accepted, in its order.
    var done: [Done] { state.withLock { $0.done } }

    func goOffline() { state.withLock { $0.isOnline = false } }
    func goOnline() { state.withLock { $0.isOnline = true } }

    /// The server signs somebody's devices out, and tells them with its next answer.
    func signOut(_ handle: String) { state.withLock { _ = $0.signedOut.insert(handle) } }

    private func isSignedOut(_ token: String) -> Bool {
        state.withLock { $0.signedOut.contains(Self.handle(in: token)) }
    }

    static func account(_ handle: String) -> AccountID {
        switch handle {
        case "anna": anna
        case "bob": bob
        default: Server.person(100 + (UInt64(handle.drop { !$0.isNumber }) ?? 0))
        }
    }

    private func answer(_ request: TransportRequest) throws -> TransportReply {
        onRequest.withLock { $0 }?(request)
        guard state.withLock({ $0.isOnline }) else { throw TransportError.unreachable("no network") }
        let time = server.state.withLock { $0.time() }
        let handle: String
        switch request.endpoint {
        case .serverTime: return TransportReply(.success([]), serverTime: time)
        case .signIn:
            handle = try JSONDecoder().decode(SignInRequest.self, from: Data(request.body)).handle ?? "anna"
            state.withLock { _ = $0.signedOut.remove(handle) }
        case .token:
            let token = try JSONDecoder().decode(TokenRequest.self, from: Data(request.body)).refreshToken
            if isSignedOut(token) { return TransportReply(.failure(APIError(.deviceSignedOut)), serverTime: time) }
            handle = Self.handle(in: token)
        case .command(let name):
            if isSignedOut(request.token ?? "") {
                return TransportReply(.failure(APIError(.deviceSignedOut)), serverTime: time)
            }
            state.withLock { $0.done.append(Done(command: name, handle: Self.handle(in: request.token ?? ""))) }
            return TransportReply(.success(Server.accepted()), serverTime: time)
        default: return TransportReply(.success(Server.accepted()), serverTime: time)
        }
        let account = Self.account(handle)
        let count = state.withLock { state in
            state.exchanges += 1
            return state.exchanges
        }
        let reply = SignedIn(
            account: account, device: DeviceID(high: account.high, low: account.low + (count << 32)),
            accessToken: "\(handle)-access-\(count)", expiresIn: 900, refreshToken: "\(handle)-refresh-\(count)")
        return TransportReply(.success(try Encoded(reply).json), serverTime: time)
    }

    private static func handle(in token: String) -> String { String(token.split(separator: "-").first ?? "") }

    // MARK: The device

    static func tokens(_ folder: AccountFolder) -> any TokenStore {
        FileTokenStore(folder.url.appending(path: "tokens"))
    }

    static func store(_ folder: AccountFolder) throws -> any MultiprocessStore {
        try DatabaseStore(folder.url.appending(path: "state"))
    }

    /// An app on the device as it is when it starts, or one of its processes.
    func app(
        _ shelf: ((FolderShelf) -> any AccountShelf)? = nil,
        tokens: @escaping @Sendable (AccountFolder) -> any TokenStore = Household.tokens,
        surroundings: @escaping @Sendable (AccountID) -> (any Surroundings)? = { _ in nil },
        adopting former: FormerAccount? = nil,
        store: @escaping @Sendable (AccountFolder) throws -> any MultiprocessStore = Household.store
    ) -> DeviceAccounts {
        let folders = FolderShelf(root: folder)
        return DeviceAccounts(
            shelf?(folders) ?? folders,
            DeviceAccounts.Parts(
                transport: { [server] _ in server.transport }, tokens: tokens,
                store: { folder in LateStore(in: folder.url) { try store(folder) } }, time: time,
                surroundings: surroundings, former: former))
    }

    /// An app with these accounts, of which the last is shown.
    func signedIn(_ handles: String...) async throws -> DeviceAccounts {
        let app = app()
        for handle in handles { try await app.signIn(handle) }
        return app
    }

    /// The names of what is in the folder.
    var names: [String] {
        get throws {
            guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        }
    }

    var list: URL { folder.appending(path: "accounts.json") }

    /// Runs `body` while an app runs.
    func running(_ accounts: DeviceAccounts, _ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await accounts.run() }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// Has somebody do something without a network that is to be sent later.
    func keeps(_ change: @escaping @Sendable () async throws -> Void) async {
        goOffline()
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await self.server.passingTime(change) }
    }

    /// Waits until the server has accepted something.
    func waits(for command: String, of handle: String) async {
        await server.passTime { done.contains(Done(command: command, handle: handle)) }
    }

    /// The next stream of somebody's.
    func stream(of handle: String) async throws -> ScriptedStream {
        try await withDeadline(.patience, "a stream of \(handle)'s") { [server] in
            while true {
                let stream = try #require(await server.transport.nextStream())
                if Self.handle(in: stream.request.token) == handle { return stream }
            }
        }
    }
}

extension DeviceAccounts {
    func signIn(_ handle: String) async throws {
        try await current.quartet.session.signIn(SignInRequest(handle: handle, password: "x"))
    }

    var handles: [String?] { list.value.accounts.map(\.handle) }
}

extension ScriptedStream {
    func begin(as handle: String, contacts: Int = 0) throws {
        let account = Household.account(handle)
        let others = (0..<contacts).map { Contact(Server.person(50 + UInt64($0))) }
        try begin(
            .account, AccountState(account: account, handle: handle, name: handle.capitalized, profileVersion: 1))
        try begin(.contacts, ContactsState(account: account, contacts: Ordered(others)))
        try begin(
            .notifications, NotificationsState(account: account, unread: 0, notifications: [], scheduled: Ordered([])))
        try begin(.operations, OperationsPage?.none)
    }
}

/// One run of an app, which a test ends before one of its steps.
final class Mortality: Sendable {
    struct Killed: Error {}

    private let steps = Mutex<Int?>(nil)

    /// - Parameter count: How many more steps it has.
    func end(after count: Int) { steps.withLock { $0 = count } }

    var isOver: Bool { steps.withLock { $0.map { $0 < 0 } ?? false } }

    func step() throws {
        let isOver = steps.withLock { steps in
            steps = steps.map { max(-1, $0 - 1) }
            return steps == -1
        }
        if isOver { throw Killed() }
    }
}

/// A device's accounts where something fails.
struct TroubledShelf: AccountShelf {
    let shelf: FolderShelf
    /// Asked before each change.
    let step: @Sendable () throws -> Void

    var isShared: Bool { true }
    var stamp: String { shelf.stamp }
    func url(of account: AccountID) -> URL { shelf.url(of: account) }
    func list() throws(AccountListProblem) -> AccountListing? { try shelf.list() }
    func folders() throws -> [AccountID] { try shelf.folders() }
    func lock() throws -> AccountLock? { try shelf.lock() }

    func save(_ listing: AccountListing) throws {
        try step()
        try shelf.save(listing)
    }

    func setListAside() throws {
        try step()
        try shelf.setListAside()
    }

    func make(_ account: AccountID) throws {
        try step()
        try shelf.make(account)
    }

    func leave(_ account: AccountID) throws {
        try step()
        try shelf.leave(account)
    }

    func hasLeft(_ account: AccountID) throws -> Bool { try shelf.hasLeft(account) }

    func erase(_ account: AccountID) throws {
        try step()
        try shelf.erase(account)
    }
}

/// What an app kept that had one account, Anna's, whose call for help waits.
final class FormerApp: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "former-\(UUID().uuidString)")
    var tokens: FileTokenStore { FileTokenStore(folder.appending(path: "tokens")) }
    var file: URL { folder.appending(path: "state") }

    init(of home: Household) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try tokens.save(
            Credentials(account: Household.anna, device: Server.device, refreshToken: "anna-refresh-0"))
        let connection = Connection(
            transport: home.server.transport, tokens: tokens, store: try DatabaseStore(file), time: home.time)
        await home.keeps { try await UserClient.live(service: connection).raiseAlert() }
        home.goOnline()
    }

    deinit {
        // Only what a test left in a temporary folder.
        try? FileManager.default.removeItem(at: folder)
    }

    /// - Parameter life: The app that takes it over.
    func account(_ life: Mortality = Mortality()) -> FormerAccount {
        FormerAccount(tokens: MortalTokens(store: tokens, life: life)) { [file] in
            try life.step()
            return try DatabaseStore(file)
        }
    }
}

/// Tokens in a file, of an app that a test ends.
struct MortalTokens: TokenStore {
    let store: FileTokenStore
    let life: Mortality

    func load() throws -> Credentials? { try store.load() }

    func save(_ credentials: Credentials?) throws {
        try life.step()
        try store.save(credentials)
    }

    func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
        try life.step()
        return try store.update(change)
    }
}
