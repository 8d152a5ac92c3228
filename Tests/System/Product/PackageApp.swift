import Foundation
import GRPCNIOTransportHTTP2Posix
import QuartetClient
import QuartetGRPC
import TestKit
import Testing

/// An app on one device.
struct PackageApp: Sendable {
    let connection: QuartetClient.Connection
    let clients: QuartetClient.Quartet

    init(_ transport: any Transport, policy: ReconnectionPolicy = .forever) {
        var time = Timekeeper.live
        // A sign-up hashes a password, which a busy machine does slowly in a debug build.
        time.callLimit = .seconds(60)
        connection = QuartetClient.Connection(transport: transport, policy: policy, time: time)
        clients = .live(connection)
    }

    /// Runs `body` while it is connected, as somebody who has just signed up.
    static func with<Result: Sendable>(
        _ handle: String, _ transport: any Transport, _ body: @Sendable (PackageApp) async throws -> Result
    ) async throws -> Result {
        let app = PackageApp(transport)
        _ = try await app.clients.session.signUp(
            SignUpRequest(handle: handle, password: "correct horse battery", name: handle.capitalized))
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                await app.connection.run()
                return nil
            }
            defer { group.cancelAll() }
            try await withDeadline(.patience, "a connection") { try await app.connection.ready() }
            return try await body(app)
        }
    }
}

extension PackageApp {
    /// How apps speak to the server.
    enum Way: CaseIterable, Sendable {
        case http, gRPC
        /// gRPC doesn't get through.
        case auto

        func transport(to quartet: Quartet) async throws -> any Transport {
            let http = HTTPTransport(try #require(URL(string: try quartet.url)))
            func gRPC(_ port: UInt16) throws -> GRPCTransport {
                try GRPCTransport(host: "127.0.0.1", port: Int(port), security: .plaintext)
            }
            return switch self {
            case .http: http
            case .gRPC: try gRPC(try await quartet.rpcPort())
            case .auto: AutoTransport(try gRPC(9), else: http)
            }
        }
    }
}

/// Goes wherever the edge is now.
struct MovingTransport: Transport {
    let url: @Sendable () throws -> String
    /// Is called before each request.
    var sending: @Sendable (TransportRequest) -> Void = { _ in }

    private func transport() throws -> HTTPTransport {
        guard let address = try? url(), let url = URL(string: address) else {
            throw TransportError.unreachable("the edge isn't running")
        }
        return HTTPTransport(url)
    }

    func send(_ request: TransportRequest) async throws -> TransportReply {
        sending(request)
        return try await transport().send(request)
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        let transport = try transport()
        var opened = try await transport.open(request)
        let items = ItemReader(opened.items)
        // It lives as long as its stream.
        opened.items = AsyncThrowingStream(unfolding: { [transport] in
            defer { _ = transport }
            return try await items.next()
        })
        return opened
    }
}

/// Writes down each command that goes out, and what became of it.
struct RecordingTransport: Transport {
    struct Sent: Sendable {
        let command: String
        let key: ID<RequestSubject>?
        /// `accepted`, the code of a refusal, or `lost`.
        let outcome: String
    }

    let inner: any Transport
    /// In the order in which they ended.
    let sent = Observed<[Sent]>([])

    func sent(of command: String) -> [Sent] { sent.value.filter { $0.command == command } }

    func send(_ request: TransportRequest) async throws -> TransportReply {
        guard case .command(let name) = request.endpoint else { return try await inner.send(request) }
        func note(_ outcome: String) {
            sent.update { [key = request.key] in $0.append(Sent(command: name, key: key, outcome: outcome)) }
        }
        do {
            let reply = try await inner.send(request)
            switch reply.result {
            case .success: note("accepted")
            case .failure(let error): note(error.code.rawValue)
            }
            return reply
        } catch {
            note("lost")
            throw error
        }
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream { try await inner.open(request) }
}

private actor ItemReader {
    private let items: AsyncThrowingStream<StreamItem, any Error>.Iterator

    init(_ items: AsyncThrowingStream<StreamItem, any Error>) {
        self.items = items.makeAsyncIterator()
    }

    func next() async throws -> StreamItem? {
        var items = items
        return try await items.next(isolation: self)
    }
}

extension PackageApp {
    /// Waits for a value of shared state.
    static func wait<Element: Sendable>(
        _ what: String, _ values: SharedValues<Element>, until isMeant: @Sendable @escaping (Element) -> Bool
    ) async throws {
        try await withDeadline(.patience, what) { for await value in values where isMeant(value) { return } }
    }

    /// Waits until two apps show the same, whichever of them hears of it last.
    static func waitForSame<State, Part: Equatable & SendableMetatype>(
        _ what: String, _ one: SharedState<State>, _ other: SharedState<State>,
        _ part: @Sendable @escaping (State) -> Part
    ) async throws {
        try await withDeadline(.patience, "the same \(what)") {
            await withTaskGroup { group in
                for values in [one.values, other.values] {
                    group.addTask { for await _ in values where part(one.value) == part(other.value) { return } }
                }
                await group.next()
                group.cancelAll()
            }
        }
    }
}
