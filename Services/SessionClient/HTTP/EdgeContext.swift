import Hummingbird
import Logging
import NIOCore
import QuartetAPI
import QuartetVocabulary

/// The context of a request.
struct EdgeContext: RequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    /// Where the connection comes from.
    let remoteAddress: SocketAddress?
    /// Whether the connection carries other requests at the same time, as with HTTP/2.
    let isMultiplexed: Bool
    /// When its head was here.
    let arrived = ContinuousClock.now
    /// How long it may still wait for the database.
    let time = RequestTime()
    let fields = AnswerFields()
    /// Shared by everything that this request leads to.
    let correlationID = CorrelationID.new()
    /// W3C trace context: the request's own, or a new one.
    var traceParent: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
        // A stream's parent is its connection, whose parent is the listening socket.
        isMultiplexed = source.channel.parent?.parent != nil
    }

    var maxUploadSize: Int { EdgeLimits.body.value }
}

/// W3C trace context (https://www.w3.org/TR/trace-context/): keeps a valid `traceparent`, makes one otherwise.
enum TraceParent {
    static func valid(_ header: String?) -> String {
        if let header, header.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/) != nil,
            !header.contains("00000000000000000000000000000000"), !header.contains("-0000000000000000-")
        {
            return header
        }
        let trace = ID<TraceSubject>.new()
        let span = UInt64.random(in: 1 ... .max)
        let hex = String(span, radix: 16)
        return "00-\(trace.description.filter { $0 != "-" })-\(String(repeating: "0", count: 16 - hex.count))\(hex)-01"
    }
}

extension Logger {
    /// Lines about a request have its trace, by which they are found together with its rows.
    func tracing(_ parent: String?) -> Logger {
        var logger = self
        if let parent { logger[metadataKey: "trace_parent"] = .string(parent) }
        return logger
    }
}

/// What a trace's id identifies.
enum TraceSubject {}
