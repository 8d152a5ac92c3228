import HTTPTypes
import NIOCore
import NIOTLS
import QuartetAPI
import QuartetVocabulary

/// How many connections there may be, in all and from one address.
///
/// One too many is answered with the reason and closed, instead of waiting unheard. If very many are being answered in this
/// way, or many of the address were a moment ago, further ones are closed at once.
struct Admissions: Sendable {
    enum Admission {
        case admitted
        case refused(APIError)
        case turnedAway
    }

    private enum Everyone { case all }

    private let all: Places<Everyone>
    private let perAddress: Places<String>?
    private let refused: Places<Everyone>
    private let refusals = RateLimit<String>(EdgeLimits.connectionRefusals)
    private let afterResets = RateLimit<String>(EdgeLimits.connectionsAfterResets)
    /// Nil behind proxies.
    let resets: Resets?

    /// - Parameters:
    ///   - perAddress: Nil behind proxies, where all connections come from theirs.
    ///   - openFiles: How many files and connections the process may have open at a time.
    init(limit: Int, perAddress: Int?, openFiles: Int = .max) {
        let places = Self.places(limit, openFiles: openFiles)
        all = Places(limit: places.admitted)
        refused = Places(limit: places.refused)
        self.perAddress = perAddress.map { Places(limit: $0) }
        resets = perAddress == nil ? nil : Resets()
    }

    /// How many connections there may be in all.
    var limit: Int { all.limit }

    /// What the process keeps open besides, for the database above all.
    private static let reserve = 256

    /// How many connections are admitted, and how many more are told at a time why they aren't. Together they leave the process
    /// what it needs for itself: once it can open nothing more, it can't refuse a connection either.
    static func places(_ limit: Int, openFiles: Int) -> (admitted: Int, refused: Int) {
        let free = max(openFiles - reserve, 2)
        let refused = min(1000, free / 5 + 1)
        return (min(limit, free - refused), refused)
    }

    /// Counts a connection until it is closed.
    func admit(_ channel: any Channel) -> Admission {
        func enter<Subject>(_ places: Places<Subject>, _ subject: Subject) -> Bool {
            guard let place = places.enter(subject) else { return false }
            channel.closeFuture.whenComplete { _ in place.leave() }
            return true
        }
        let address = perAddress == nil ? nil : channel.remoteAddress?.ipAddress.map(ClientAddress.network(of:))
        // To say why takes a handshake of TLS, the dearest part of a connection.
        func refuse(_ error: APIError) -> Admission {
            LimitMetrics.hit(error.code)
            if let address, !refusals.admit(address) {
                LimitMetrics.hit(.connectionRefusals)
                return .turnedAway
            }
            return enter(refused, .all) ? .refused(error) : .turnedAway
        }
        if let perAddress, let address {
            // Somebody else of the address may need one.
            if let rest = resets?.rest(of: address), rest > 0, !afterResets.admit(address) {
                return refuse(
                    APIError(
                        .tooManyConnections, "Too many requests from your address were given up.", retryAfter: rest))
            }
            guard enter(perAddress, address) else {
                return refuse(
                    APIError(
                        .tooManyConnections, "Your address has \(perAddress.limit) connections open; close one first.",
                        retryAfter: 5))
            }
        }
        guard enter(all, .all) else {
            return refuse(
                APIError(.overloaded, "This server has as many connections as it may; try again.", retryAfter: 5))
        }
        return .admitted
    }
}

/// Answers a connection that is one too many, whatever it asks, and closes it.
///
/// It speaks without reading the request, and says at once that nothing more follows, so that the client is done. Then it throws
/// away what still comes until the client closes, two seconds at most: closing with bytes unread would make the client's system
/// drop the answer. What stands behind it in the pipeline doesn't hear of the connection.
final class Refusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: [UInt8]
    private let isEncrypted: Bool
    private var hasAnswered = false
    private var deadline: Scheduled<Void>?
    private static let patience: TimeAmount = .seconds(2)

    /// - Parameter answer: ``http(_:)`` or ``goAway(_:)``.
    init(_ answer: [UInt8], isEncrypted: Bool) {
        self.answer = answer
        self.isEncrypted = isEncrypted
    }

    /// The answer in HTTP/1.1.
    static func http(_ error: APIError) -> [UInt8] {
        guard let problem = try? error.problem() else { return [] }
        var head = "HTTP/1.1 \(problem.status.code) \(problem.status.reasonPhrase)\r\n"
        for field in problem.headers { head += "\(field.name.rawName): \(field.value)\r\n" }
        head += "Content-Length: \(problem.body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + problem.body
    }

    /// The answer in HTTP/2 (RFC 9113, section 6.8), as clients of gRPC read it: empty settings, and GOAWAY with the code
    /// ENHANCE_YOUR_CALM and the reason.
    static func goAway(_ error: APIError) -> [UInt8] {
        let reason = Array("\(error.code.rawValue): \(error.detail)".utf8)
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let length = UInt32(clamping: 8 + reason.count)
        let head = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), 7, 0, 0, 0, 0, 0]
        return settings + head + [0, 0, 0, 0, 0, 0, 0, 0x0B] + reason
    }

    func handlerAdded(context: ChannelHandlerContext) {
        closeLater(context)
        if context.channel.isActive, !isEncrypted { say(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelActive(context: ChannelHandlerContext) {
        if !isEncrypted { say(context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Nothing of the request matters.
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: context.close(promise: nil)
        case let event as ChannelEvent where event == .inputClosed: context.close(promise: nil)
        case let event as TLSUserEvent where event != .shutdownCompleted: say(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func say(_ context: ChannelHandlerContext) {
        guard !hasAnswered else { return }
        hasAnswered = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
        context.close(mode: .output, promise: nil)
        closeLater(context)
    }

    private func closeLater(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { context.close(promise: nil) }
    }
}
