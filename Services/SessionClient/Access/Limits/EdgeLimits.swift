import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import ServiceKit

/// Every limit of the edge on what comes from outside. Those of the rules, which hold for all replicas together, stand in the
/// services' contracts and in their tables `limits`.
enum EdgeLimits {
    // MARK: Requests

    static let reads = requests("reads", "Reads", .tooManyReads, default: 3000)
    static let commands = requests("commands", "Commands and other changes", .tooManyCommands, default: 600)
    static let urgent = requests(
        "urgent", "Calls for help, their ends, check-ins, trips and answers to a ping", .tooManyCommands, default: 600)
    static let operations = requests("operations", "Operations", .tooManyOperations, default: 120)
    static let streamOpenings = requests("streams", "Openings of streams", .tooManyStreams, default: 300)
    static let addressFactor = Limit(
        "each of the five above; of the third, people whose token this server knows and all others have one each",
        of: "address and server",
        Setting<Int>.int(
            "address.factor", in: 1...10_000, default: 20,
            help: "How many times as much as an account one address (an IPv6 /64) may ask in a minute."),
        .refused(.tooManyRequests)
    ) { "\($0) times as many as an account" }
    static let refusals = Limit(
        "refusals (429) that are answered at once", of: "address and server", Rate(50, per: .second, burst: 100),
        Rate(50, per: .second, burst: 100).words, .ended(.refusals))
    static let repeats = rate(
        "commands and operations beyond that which are asked again under their key, and of the third kind as many again",
        of: "account",
        Rate(60, per: .minute), .tooManyCommands)
    static let clock = rate("questions for the time", of: "account", Rate(60, per: .minute), .tooManyRequests)
    static let unanswered = Limit(
        "commands that wait for their outcome", of: "service and server",
        Setting<Int>.int(
            "commands.unanswered", in: 1...100_000, default: 4096,
            help: "Unanswered commands per service; more are refused (503) until the service catches up."),
        .refused(.overloaded), amount: Words.number)

    private static func requests(
        _ kind: String, _ name: String, _ code: APIError.Code, default count: Int
    ) -> Limit<Int> {
        Limit(
            name.prefix(1).lowercased() + name.dropFirst(), of: "account and server",
            .int(
                "\(kind).per.minute", in: 1...1_000_000, default: count,
                help: "\(name) per account and minute, a tenth of them at once; more are refused (429)."),
            .refused(code)
        ) { Rate.requests($0).words }
    }

    // MARK: Streams

    static let streamsOfDevice = count("open streams", of: "device and server", 16, .refused(.tooManyStreams))
    static let streamsOfAccount = count("open streams", of: "account and server", 64, .refused(.tooManyStreams))
    static let groupsOfStream = count("group sessions", of: "stream", 8, .wrong(.invalidParameter))
    static let filterNames = count("types, and contacts, of a filter", of: "stream", 50, .wrong(.invalidParameter))
    static let streamWrite = Limit(
        "time for a write, while the app doesn't read", of: "stream",
        Setting<Duration>.duration(
            "stream.write.deadline", in: .milliseconds(100)...(.seconds(3600)), default: .seconds(30),
            help: "How long a write to a stream may take before the stream is closed."),
        .ended(.writeDeadline)
    ) { Words.seconds(Int($0.components.seconds)) }

    // MARK: Guessing, searching, signing up

    static let guesses = perMinute(
        "guesses.per.minute", "wrong passwords, codes and operators' keys", default: 30, .tooManyAttempts,
        in: 1...100_000, "Wrong passwords, codes and operators' keys per address and minute; more are refused (429).")
    static let signUps = perMinute(
        "sign.ups.per.minute", "sign-ups", default: 60, .tooManySignUps, in: 1...1_000_000,
        "New accounts per address and minute; more are refused (429).")
    static let passwordsWaiting = count("passwords that wait to be checked", of: "server", 64, .refused(.overloaded))
    static let passwordsWaitingOfAddress = count(
        "passwords that wait to be checked", of: "address and server", 8, .refused(.overloaded))
    static let codes = rate("requests for codes", of: "address", Rate(10, per: .minute), .tooManyCodes)
    static let codesForPhone = rate(
        "codes to one new phone", of: "address", Rate(2, per: .minute, burst: 1), .tooSoon)
    static let codesToPhone = rate("codes to a new phone", of: "phone", Rate(20, per: .hour), .tooSoon)
    static let searches = rate("searches", of: "account", Rate(30, per: .minute), .tooManyLookUps)
    static let searchesOfAddress = rate("searches", of: "address", Rate(60, per: .minute), .tooManyLookUps)
    static let searchesForPerson = rate("searches for one person", of: "address", Rate(10, per: .hour), .tooManyLookUps)

    private static func perMinute(
        _ key: String, _ what: String, default count: Int, _ code: APIError.Code, in range: ClosedRange<Int>,
        _ help: String
    ) -> Limit<Int> {
        Limit(what, of: "address and server", .int(key, in: range, default: count, help: help), .refused(code)) {
            Rate($0, per: .minute).words
        }
    }

    // MARK: Signals

    static let signals = rate("signals", of: "account", Rate(30, per: .second), .tooManySignals)
    static let signalsDelivered = Limit(
        "signals of one account that are delivered", of: "server", Rate(30, per: .second, burst: 60),
        Rate(30, per: .second, burst: 60).words, .ended(.signals))
    static let signalsOfServer = Limit(
        "signals of all accounts", of: "server",
        Setting<Int>.int(
            "signals.per.second", in: 1...100_000, default: 2000,
            help: "Signals of all accounts per second, and as many at once; more are refused (503)."),
        .refused(.overloaded)
    ) { Rate($0, per: .second).words }

    // MARK: Pictures and attachments

    static let pictures = rate("pictures sent", of: "account", Rate(10, per: .minute), .tooManyUploads)
    static let picturesOfAddress = rate("pictures sent", of: "address", Rate(60, per: .minute), .tooManyUploads)
    static let picturesAtOnce = count(
        "pictures sent at a time", of: "account and server", 4, .refused(.tooManyUploads))
    static let picturesAtOnceOfAddress = count(
        "pictures sent at a time", of: "address and server", 16, .refused(.tooManyUploads))
    static let chunks = rate("uploads of chunks", of: "account", Rate(3000, per: .minute), .tooManyUploads)
    static let chunksOfAddress = rate("uploads of chunks", of: "address", Rate(12_000, per: .minute), .tooManyUploads)
    static let chunksAtOnce = count(
        "uploads of chunks at a time", of: "account and server", 8, .refused(.tooManyUploads))
    static let chunksAtOnceOfAddress = count(
        "uploads of chunks at a time", of: "address and server", 64, .refused(.tooManyUploads))
    static let arrivals = count(
        "pictures sent at a time; uploads of chunks at a time", of: "server", 64, .refused(.overloaded))
    static let downloads = count("downloads at a time", of: "account and server", 8, .refused(.tooManyDownloads))

    // MARK: Sizes

    static let url = bytes("path and parameters", of: "request", 4096, .refused(.urlTooLong))
    static let headerField = bytes("a header field", of: "request of HTTP/1.1", 8192, .ended(.headers))
    /// Set for HTTP/1.1. With HTTP/2 and gRPC it is what NIO's decoder takes by default, which neither Hummingbird nor
    /// gRPC's transport lets anyone change.
    static let headers = bytes("all header fields", of: "request", 16_384, .ended(.headers))
    static let headerCount = count("header fields", of: "request of HTTP/1.1", 64, .ended(.headers))
    static let body = bytes("a body of JSON", of: "request", Message.bodyLimit, .refused(.bodyTooLarge))
    private static let levels = 32
    static let depth = Limit("nesting of JSON", of: "request", levels, "\(levels) levels", .wrong(.malformedBody))
    static let picture = bytes("a picture", of: "request", ImageHeader.sizes.upperBound, .refused(.pictureTooLarge))
    static let chunksOfRequest = bytes(
        "chunks in one request", of: "request", 4 * ContentHash.chunkSize, .refused(.bodyTooLarge))
    static let message = bytes("a message of gRPC", of: "call", 1 << 20, .cut)

    // MARK: Time

    static let handshake = seconds("time for the handshake of TLS", of: "connection", 10, .ended(.handshake))
    static let head = seconds("time for a request's head", of: "request of HTTP/1.1", 10, .ended(.pace))
    static let grace = seconds("time in which a body may come at any rate", of: "request of HTTP", 10, .ended(.pace))
    static let pace = Limit(
        "bytes of a body after that, on average", of: "request of HTTP", 1024, "1 KiB a second at least", .ended(.pace))
    static let rest = seconds(
        "time for the rest of a request that was answered", of: "request of HTTP", 5, .ended(.pace))
    static let bodyTime = seconds("time for a body of JSON", of: "request", 15, .refused(.tooSlow))
    static let messageTime = seconds("time for a call's message", of: "call", 15, .refused(.tooSlow))
    static let bytesTime = seconds("time for a picture or chunks", of: "request", 60, .refused(.tooSlow))
    static let idle = seconds("time without a request", of: "connection of HTTP", 60, .uncounted)
    static let silence = seconds(
        "time in which nothing is heard, although the server asks", of: "connection of gRPC", 42, .ended(.silence))

    /// A stream has ended by itself then.
    static let unreadTime = Limit(
        "time in which nothing of an answer is read", of: "answer", 1, "a second more than a write to a stream has",
        .ended(.unread))

    // MARK: Connections

    static let connections = Limit(
        "connections", of: "server",
        Setting<Int>.int(
            "http.connections", in: 1...100_000, default: 20_000,
            help:
                "Concurrent connections, fewer if the system doesn't let the process open as many; further ones are answered 503 and closed."
        ),
        .refused(.overloaded), amount: Words.number)
    static let connectionsOfAddress = Limit(
        "connections", of: "address and server",
        Setting<Int>.int(
            "http.connections.per.address", in: 1...100_000, default: 1000,
            help:
                "Concurrent HTTP connections from one address (an IPv6 /64); further ones are answered 429 and closed. There is no limit behind proxies."
        ), .refused(.tooManyConnections), amount: Words.number)
    /// There is no limit behind proxies, whose connections carry everybody's requests.
    static let resets = Limit(
        "requests of HTTP/2, and calls, that are given up", of: "address and server",
        Rate(20, per: .second, burst: 1000), Rate(20, per: .second, burst: 1000).words, .ended(.resets))
    static let connectionsAfterResets = Limit(
        "new connections while fewer than a quarter of these are left", of: "address and server",
        Rate(1, per: .second, burst: 5), Rate(1, per: .second, burst: 5).words, .refused(.tooManyConnections))
    static let connectionRefusals = Limit(
        "refused connections that are told why", of: "address and server", Rate(60, per: .minute),
        Rate(60, per: .minute).words, .ended(.connectionRefusals))
    static let unreadOfConnection = bytes(
        "answers that aren't read", of: "connection", 16 << 20, .ended(.unreadOfConnection))
    /// There is no limit behind proxies, where all connections come from theirs.
    static let unreadOfAddress = Limit(
        "answers that aren't read", of: "address and server", 8, "an eighth of all", .ended(.unreadOfAddress))
    static let unreadOfServer = Limit(
        "answers that aren't read, of which a connection may have an eighth of what is left", of: "server",
        Setting<Int>.int(
            "answers.unread", in: 1...65_536, default: 256,
            help:
                "MiB of answers that may wait to be read, of all connections. An address may have an eighth (not limited behind proxies), and a connection an eighth of what is left; one that gets more is closed."
        ), .ended(.unreadOfServer)
    ) { Words.bytes($0 << 20) }
    static let healthWatches = count(
        "watches of health", of: "address and server", 16, .refused(.tooManyRequests))
    static let reflections = count(
        "calls of reflection at a time", of: "address and server", 16, .refused(.tooManyRequests))
    /// Set for gRPC. For HTTP it is NIO's default, which Hummingbird doesn't let anyone change.
    static let requestsOfConnection = count(
        "requests, or calls, at a time", of: "connection of HTTP/2", 100, .uncounted)

    // MARK: Work of one request

    static let contactsPage = count(
        "contacts of a page", of: "request", ContactsQuery.limits.upperBound, .wrong(.invalidParameter))
    static let notificationsPage = count(
        "notifications of a page", of: "request", NotificationsQuery.limits.upperBound, .wrong(.invalidParameter))
    static let operationsPage = count(
        "operations of a page", of: "request", OperationsPage.limits.upperBound, .wrong(.invalidParameter))
    static let messagesPage = count(
        "messages of a page", of: "request", MessagesQuery.limits.upperBound, .wrong(.invalidParameter))
    static let groupsPage = count("group sessions of a list", of: "request", GroupsPage.limit, .uncounted)
    static let operatorRows = count("rows of an operator's query", of: "request", 1000, .uncounted)

    /// All of them, in the order of the documentation.
    static let all: [any LimitDeclaration] = list

    @ListBuilder<any LimitDeclaration> private static var list: [any LimitDeclaration] {
        reads
        commands
        urgent
        operations
        streamOpenings
        addressFactor
        refusals
        repeats
        clock
        unanswered
        streamsOfDevice
        streamsOfAccount
        groupsOfStream
        filterNames
        streamWrite
        guesses
        signUps
        passwordsWaiting
        passwordsWaitingOfAddress
        codes
        codesForPhone
        codesToPhone
        searches
        searchesOfAddress
        searchesForPerson
        signals
        signalsDelivered
        signalsOfServer
        pictures
        picturesOfAddress
        picturesAtOnce
        picturesAtOnceOfAddress
        chunks
        chunksOfAddress
        chunksAtOnce
        chunksAtOnceOfAddress
        arrivals
        downloads
        url
        headerField
        headers
        headerCount
        body
        depth
        picture
        chunksOfRequest
        message
        handshake
        head
        grace
        pace
        rest
        bodyTime
        messageTime
        bytesTime
        idle
        silence
        unreadTime
        connections
        connectionsOfAddress
        resets
        connectionsAfterResets
        connectionRefusals
        unreadOfConnection
        unreadOfAddress
        unreadOfServer
        requestsOfConnection
        healthWatches
        reflections
        contactsPage
        notificationsPage
        operationsPage
        messagesPage
        groupsPage
        operatorRows
    }

    /// The settings among them.
    static let settings: [any SettingDeclaration] = all.compactMap(\.declaredSetting)

    // MARK: Making them

    private static func rate(_ what: String, of scope: String, _ rate: Rate, _ code: APIError.Code) -> Limit<Rate> {
        Limit(what, of: "\(scope) and server", rate, rate.words, .refused(code))
    }

    private static func count(_ what: String, of scope: String, _ count: Int, _ hit: LimitHit) -> Limit<Int> {
        Limit(what, of: scope, count, Words.number(count), hit)
    }

    private static func bytes(_ what: String, of scope: String, _ count: Int, _ hit: LimitHit) -> Limit<Int> {
        Limit(what, of: scope, count, Words.bytes(count), hit)
    }

    private static func seconds(_ what: String, of scope: String, _ count: Int, _ hit: LimitHit) -> Limit<Int> {
        Limit(what, of: scope, count, Words.seconds(count), hit)
    }
}
