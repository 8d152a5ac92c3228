import AsyncHTTPClient
import Bus
import EdgeClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Postgres
import QuartetVocabulary
import Synchronization

/// Thousands of apps follow their streams, each with fifty contacts. The edge is killed and started again while events go
/// on, and every app comes back with its `Last-Event-ID`. Measured is how long it takes until all have their four streams and
/// all their people again.
extension ProductBenchmark {
    /// Contacts of each account.
    private static var contacts: Int { 50 }

    func rejoin(_ clients: Int, _ report: inout Report) async throws {
        guard clients > Self.contacts else { throw Failure("set REJOIN_CLIENTS to more than \(Self.contacts)") }
        say("\(clients) accounts with \(Self.contacts) contacts each")
        let devices = try crowd(clients, contacts: Self.contacts)
        let apps = devices.map { App(token: $0.token) }
        let publisher = try await Connection.connect(Configuration(server.url("quartet", as: "notifications")))
        let log = try await publisher.run { try Log.open(LogName(schema: "notifications", table: "log"), $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for app in apps { group.addTask { try await self.follow(app) } }
            say("all of them for the first time")
            report.add("sse_join_s", try await waitUntilLive(apps, since: .now))
            group.addTask {
                // Events go on while the edge is down.
                while true {
                    try await self.publish(
                        Array(devices.map(\.account).shuffled().prefix(clients / 50)), log, publisher)
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            try await Task.sleep(for: .seconds(2))
            say("kill -9 of the edge")
            for app in apps { app.forget() }
            let begun = try await restartEdge()
            report.add("sse_rejoin_s", try await waitUntilLive(apps, since: begun), aim: "<= 10")
            report.add("sse_rejoin_refused", Double(apps.reduce(0) { $0 + $1.refused }), aim: "0")
            report.add("sse_rejoin_statements_per_client", try await statements() / Double(clients))
            group.cancelAll()
        }
        await publisher.close()
    }

    /// Returns the seconds until every app has all that it follows.
    private func waitUntilLive(_ apps: [App], since begun: ContinuousClock.Instant) async throws -> Double {
        var shown = begun
        while true {
            let waiting = apps.count { !$0.isLive(with: Self.contacts) }
            if waiting == 0 { return (ContinuousClock.now - begun) / .seconds(1) }
            guard ContinuousClock.now - begun < .seconds(300) else { throw Failure("\(waiting) apps aren't live") }
            if ContinuousClock.now - shown > .seconds(5) {
                say("\(waiting) aren't live yet")
                shown = .now
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// How many statements the edge began streams with since it was started.
    private func statements() async throws -> Double {
        let request = HTTPClientRequest(url: adminURL + "/metrics")
        let answer = try await http.execute(request, timeout: .seconds(10))
        return String(buffer: try await answer.body.collect(upTo: 1 << 20)).split(separator: "\n")
            .filter { $0.hasPrefix("quartet_join_statements_total{") }
            .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            .reduce(0, +)
    }

    /// Makes accounts with contacts, and access tokens for them.
    func crowd(_ count: Int, contacts: Int) throws -> [Device] {
        let crowd = Crowd(count)
        try server.psql("quartet", crowd.statements(contacts: contacts).flatMap { ["-c", $0] })
        return try crowd.devices(signedBy: signingKey, at: edge)
    }

    // MARK: Apps

    /// Follows a stream, and comes back whenever it ends.
    private func follow(_ app: App) async throws {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(Follower(app))
                }
            }
        while !Task.isCancelled {
            if let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get() {
                try await withTaskCancellationHandler {
                    try await channel.closeFuture.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
            }
            // Sooner than `retry:` asks of apps, which would be most of what is measured.
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...500)))
        }
    }
}

/// Asks for an app's stream on one connection, and hands over what comes. An HTTP client for everybody would wait longer
/// after each refused connection, and that would be measured.
private final class Follower: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let app: App

    init(_ app: App) {
        self.app = app
    }

    func channelActive(context: ChannelHandlerContext) {
        var headers: HTTPHeaders = ["host": "127.0.0.1", "authorization": "Bearer \(app.token)"]
        if let place = app.place { headers.add(name: "last-event-id", value: place) }
        context.write(
            wrapOutboundOut(
                .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/v1/stream", headers: headers))),
            promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head) where head.status != .ok:
            app.wasRefused()
            context.close(promise: nil)
        case .head: break
        case .body(let bytes): app.read(bytes.readableBytesView)
        case .end: context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// What one app has heard since it came.
private final class App: Sendable {
    private struct State {
        var line: [UInt8] = []
        var place: String?
        var begun = 0
        var people = 0
        var refused = 0
    }

    let token: String
    private let state = Mutex(State())

    init(token: String) {
        self.token = token
    }

    var place: String? { state.withLock(\.place) }
    var refused: Int { state.withLock(\.refused) }

    func isLive(with people: Int) -> Bool { state.withLock { $0.begun >= 4 && $0.people >= people } }

    func wasRefused() { state.withLock { $0.refused += 1 } }

    /// The connection is lost: what counts is heard on the next one.
    func forget() { state.withLock { ($0.begun, $0.people, $0.line) = (0, 0, []) } }

    func read(_ bytes: some Sequence<UInt8>) {
        state.withLock { state in
            for byte in bytes {
                if byte != UInt8(ascii: "\n") {
                    // The contents of data lines don't matter.
                    if state.line.first != UInt8(ascii: "d") { state.line.append(byte) }
                    continue
                }
                let line = state.line
                state.line.removeAll(keepingCapacity: true)
                switch line.first {
                case UInt8(ascii: "i"): state.place = String(decoding: line.dropFirst("id: ".count), as: UTF8.self)
                case UInt8(ascii: "e"):
                    let name = String(decoding: line.dropFirst("event: ".count), as: UTF8.self)
                    if name == "person" { state.people += 1 }
                    if name.hasSuffix(".snapshot") || name.hasSuffix(".resumed") { state.begun += 1 }
                default: break
                }
            }
        }
    }
}
