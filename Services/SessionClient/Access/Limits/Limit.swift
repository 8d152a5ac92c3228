import QuartetAPI
import QuartetVocabulary
import ServiceKit

/// A limit of the edge, declared once, in ``EdgeLimits``: from there come its setting if it has one, its row in the documentation,
/// and the series in which `/metrics` counts how often it was hit.
struct Limit<Value: Sendable>: LimitDeclaration {
    let what: String
    let scope: String
    let amount: String
    let hit: LimitHit
    /// Unless a setting says otherwise.
    let value: Value
    fileprivate let setting: Setting<Value>?

    /// - Parameters:
    ///   - scope: What has so many of it.
    ///   - amount: As people read it.
    init(_ what: String, of scope: String, _ value: Value, _ amount: String, _ hit: LimitHit) {
        (self.what, self.scope, self.value, self.amount, self.hit) = (what, scope, value, amount, hit)
        setting = nil
    }

    /// A limit that is a setting.
    /// - Parameter amount: Writes the default as people read it.
    init(
        _ what: String, of scope: String, _ setting: Setting<Value>, _ hit: LimitHit, amount: (Value) -> String
    ) {
        (self.what, self.scope, value, self.hit) = (what, scope, setting.defaultValue, hit)
        self.amount = amount(setting.defaultValue)
        self.setting = setting
    }

    var declaredSetting: (any SettingDeclaration)? { setting }
}

/// What everyone may know of a limit.
protocol LimitDeclaration: Sendable {
    /// What is limited.
    var what: String { get }
    /// Whose it is. What says "server" is kept by each replica on its own.
    var scope: String { get }
    /// How much of it, as people read it.
    var amount: String { get }
    var hit: LimitHit { get }
    var declaredSetting: (any SettingDeclaration)? { get }
}

/// What happens where a limit is reached.
enum LimitHit: Hashable, Sendable {
    /// The request is refused, and counted under this code.
    case refused(APIError.Code)
    /// What comes too slowly is closed, what is too much dropped, and counted under this word.
    case ended(Word)
    /// It is refused like any other wrong request, which isn't counted.
    case wrong(APIError.Code)
    /// The protocol tells the peer, or what is quiet is closed: nothing is refused.
    case uncounted
    /// The transport ends the call, without saying so to us.
    case cut

    /// Where there is no code, since nothing is answered or the transport answers.
    enum Word: String, CaseIterable, Sendable {
        case handshake, pace, headers, silence, writeDeadline, signals, unread, unreadOfConnection, unreadOfAddress
        case unreadOfServer, resets, connectionRefusals, refusals
    }

    /// What its label doesn't say.
    var note: String {
        switch self {
        case .refused: ""
        case .ended(.handshake), .ended(.pace), .ended(.headers), .ended(.silence): ": the connection closes"
        case .ended(.unreadOfConnection), .ended(.unreadOfAddress), .ended(.unreadOfServer): ": the connection closes"
        case .ended(.resets): ": a connection that gave up more than \(Resets.own) in 30 seconds closes"
        case .ended(.connectionRefusals): ": it is closed without a word"
        case .ended(.refusals): ": the answer waits, five seconds at most, while no more than 100 of the address do"
        case .ended(.unread): ": the answer ends, or a connection of which nothing is read"
        case .ended(.writeDeadline): ": the stream ends"
        case .ended(.signals): ": they are dropped"
        case .wrong: ", not counted"
        case .uncounted: "nothing is refused"
        case .cut: "the call ends, not counted"
        }
    }

    /// Its label at `/metrics`.
    var label: String? {
        switch self {
        case .refused(let code): code.rawValue
        case .ended(let word): word.rawValue
        case .wrong, .uncounted, .cut: nil
        }
    }
}

extension LimitDeclaration {
    /// Its row in deploy/API.md.
    var row: String {
        let label =
            switch hit {
            case .refused(let code), .wrong(let code): "`\(code.rawValue)`\(hit.note)"
            case .ended(let word): "`\(word.rawValue)`\(hit.note)"
            case .uncounted, .cut: hit.note
            }
        return "| \(what) | \(amount) | \(scope) | \(label) | \(declaredSetting.map { "`\($0.flag)`" } ?? "") |"
    }
}

extension Settings {
    subscript<Value>(limit: Limit<Value>) -> Value { limit.setting.map { self[$0] } ?? limit.value }
}

/// How many in a time: what a token bucket admits.
struct Rate: Hashable, Sendable {
    let count: Int
    let period: Period
    /// At once.
    let burst: Int

    enum Period: String, Sendable {
        case second, minute, hour

        var minutes: Double {
            switch self {
            case .second: 1 / 60
            case .minute: 1
            case .hour: 60
            }
        }
    }

    /// - Parameter burst: By default as many as in the period.
    init(_ count: Int, per period: Period, burst: Int? = nil) {
        (self.count, self.period, self.burst) = (count, period, burst ?? count)
    }

    /// As a limit for requests is meant: a tenth of it at once.
    static func requests(_ count: Int) -> Rate { Rate(count, per: .minute, burst: max(1, count / 10)) }

    var perMinute: Double { Double(count) / period.minutes }

    var words: String {
        "\(Words.number(count)) \(period == .hour ? "an" : "a") \(period.rawValue)"
            + (burst == count ? "" : ", \(Words.number(burst)) at once")
    }
}

/// Amounts as people read them.
enum Words {
    static func number(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    static func bytes(_ count: Int) -> String {
        for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where count % size == 0 {
            return "\(number(count / size)) \(unit)"
        }
        return "\(number(count)) bytes"
    }

    static func seconds(_ count: Int) -> String { count == 1 ? "a second" : "\(count) seconds" }
}
