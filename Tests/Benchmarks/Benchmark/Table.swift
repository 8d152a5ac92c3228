import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Five people in a group session, each with a stream. They move in turn, on one connection, at a steady pace. A move's time runs
/// from when it was due until the last of the five heard of it.
final class Table: Sendable {
    private struct Move {
        let due: NIODeadline
        var heard = 0
    }

    private struct State {
        var number = 0
        var isAsking = false
        /// Due, but not sent: the move before isn't answered yet.
        var waiting: [NIODeadline] = []
        var moves: [Int: Move] = [:]
        var answers: [Double] = []
        var waits: [Double] = []
        var failures: [String] = []
        var listening = 0
        var isOpen = true
    }

    static let seats = 5
    private let group: String
    private let tokens: [String]
    private let loop: any EventLoop
    private let port: Int
    private let state = Mutex(State())
    private let channels = Mutex<[any Channel]>([])
    private let mover = Mover()

    init(group: String, tokens: [String], port: Int) {
        self.group = group
        self.tokens = tokens
        self.port = port
        loop = MultiThreadedEventLoopGroup.singleton.next()
    }

    // MARK: Connections

    /// Opens the streams and returns once each has the session's state.
    func open() async throws {
        for token in tokens {
            let channel = try await connect(Listener(self, token: token, group: group))
            channels.withLock { $0.append(channel) }
        }
        mover.begin(for: self)
        let channel = try await connect(mover)
        channels.withLock { $0.append(channel) }
        let end = ContinuousClock.now + .seconds(60)
        while state.withLock({ $0.listening < Self.seats }) {
            guard ContinuousClock.now < end else { throw Failure("the streams of a group don't begin: \(failures)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func close() {
        state.withLock { $0.isOpen = false }
        for channel in channels.withLock({ $0 }) { channel.close(promise: nil) }
    }

    private func connect(_ handler: some ChannelInboundHandler & Sendable) async throws -> any Channel {
        try await ClientBootstrap(group: loop)
            .channelOption(ChannelOptions.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    // MARK: Moving

    /// Makes a move every so often, beginning at a random moment of the first interval.
    func play(every interval: TimeAmount, until end: NIODeadline) {
        schedule(.now() + .nanoseconds(.random(in: 0..<interval.nanoseconds)), every: interval, until: end)
    }

    private func schedule(_ due: NIODeadline, every interval: TimeAmount, until end: NIODeadline) {
        guard due < end else { return }
        loop.scheduleTask(deadline: due) {
            self.state.withLock { $0.waiting.append(due) }
            self.moveIfDue()
            self.schedule(due + interval, every: interval, until: end)
        }
    }

    private func moveIfDue() {
        let number: Int? = state.withLock { state in
            guard !state.isAsking, !state.waiting.isEmpty else { return nil }
            state.isAsking = true
            state.number += 1
            state.moves[state.number] = Move(due: state.waiting.removeFirst())
            return state.number
        }
        guard let number else { return }
        mover.send(
            #"{"group":"\#(group)","expectedVersion":\#(number),"patch":{"move":\#(number)}}"#,
            token: tokens[number % Self.seats])
    }

    fileprivate func answered(_ status: HTTPResponseStatus, _ body: String) {
        state.withLock { state in
            state.isAsking = false
            if status != .ok { state.failures.append("a move was answered with \(status.code) \(body)") }
            if let due = state.moves[state.number]?.due { state.answers.append(Self.milliseconds(since: due)) }
        }
        moveIfDue()
    }

    // MARK: Hearing

    fileprivate func isListening() { state.withLock { $0.listening += 1 } }

    fileprivate func heard(_ number: Int) {
        state.withLock { state in
            state.moves[number]?.heard += 1
            guard let move = state.moves[number], move.heard == Self.seats else { return }
            state.moves[number] = nil
            state.waits.append(Self.milliseconds(since: move.due))
        }
    }

    fileprivate func failed(_ what: String) {
        state.withLock { if $0.isOpen { $0.failures.append(what) } }
    }

    private static func milliseconds(since due: NIODeadline) -> Double {
        Double((NIODeadline.now() - due).nanoseconds) / 1_000_000
    }

    // MARK: Results

    var failures: [String] { state.withLock(\.failures) }

    /// How many moves are due or on their way.
    var open: Int { state.withLock { $0.waiting.count + $0.moves.count } }

    /// Times since the last call, in milliseconds: until a move was answered, and until everybody heard of it.
    func take() -> (answers: [Double], waits: [Double]) {
        state.withLock { state in
            defer { (state.answers, state.waits) = ([], []) }
            return (state.answers, state.waits)
        }
    }
}

/// One person's stream.
private final class Listener: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let table: Table
    private let request: HTTPRequestHead
    private let rest = Mutex(ByteBuffer())

    init(_ table: Table, token: String, group: String) {
        self.table = table
        request = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/v1/stream?group=\(group)",
            headers: ["host": "127.0.0.1", "authorization": "Bearer \(token)"])
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.status != .ok { table.failed("a stream was answered with \(head.status.code)") }
        case .body(var bytes):
            rest.withLock { rest in
                rest.writeBuffer(&bytes)
                while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = rest.readSlice(length: end + 1 - rest.readerIndex)
                    if let line { take(line.readableBytesView) }
                }
                rest.discardReadBytes()
            }
        case .end: table.failed("a stream ended")
        }
    }

    private static let snapshot = Array("event: group.snapshot".utf8)
    private static let data = Array("data: ".utf8)
    private static let mark = Array(#""patch":{"move":"#.utf8)

    private func take(_ line: ByteBufferView) {
        if line.starts(with: Self.snapshot) { return table.isListening() }
        guard line.starts(with: Self.data), let mark = line.firstRange(of: Self.mark) else { return }
        let digits = line[mark.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if let number = Int(String(decoding: digits, as: UTF8.self)) { table.heard(number) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// The connection on which the people of a table make their moves.
private final class Mover: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private struct State {
        weak var table: Table?
        var context: NIOLoopBound<ChannelHandlerContext>?
        var status = HTTPResponseStatus.ok
        var body = ""
    }

    private let state = Mutex(State())

    func begin(for table: Table) { state.withLock { $0.table = table } }

    /// On the connection's event loop.
    func send(_ move: String, token: String) {
        guard let context = state.withLock(\.context)?.value else { return }
        let body = ByteBuffer(string: move)
        let headers: HTTPHeaders = [
            "host": "127.0.0.1", "authorization": "Bearer \(token)", "content-type": "application/json",
            "content-length": "\(body.readableBytes)",
        ]
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/commands/UpdateGame", headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        state.withLock { $0.context = bound }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): state.withLock { ($0.status, $0.body) = (head.status, "") }
        case .body(let bytes): state.withLock { if $0.status != .ok { $0.body += String(buffer: bytes) } }
        case .end:
            let (table, status, body) = state.withLock { ($0.table, $0.status, $0.body) }
            table?.answered(status, body)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.withLock {
            $0.context = nil
            return $0.table
        }?.failed("the connection for moves was closed")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
