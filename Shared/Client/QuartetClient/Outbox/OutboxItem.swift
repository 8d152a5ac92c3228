import Foundation
import QuartetAPI
public import QuartetVocabulary

/// A change that a person made and the server hasn't decided.
public struct OutboxItem: Codable, Hashable, Sendable, Identifiable {
    /// A time of the device's that nobody can set.
    struct Moment: Codable, Hashable, Sendable {
        /// Moments of different ones can't be compared: the device was started in between.
        let epoch: String
        let time: Duration

        init(_ time: Timekeeper) {
            (epoch, self.time) = (time.epoch, time.uptime)
        }
    }

    /// One whose place another took.
    struct Replaced: Codable, Hashable, Sendable {
        let id: Int64
        let command: String
    }

    /// What of a joined item was refused, while the rest went on.
    struct Lost: Codable, Hashable, Sendable {
        /// An edit of the fields that it was about.
        let edit: Data
        let refusal: UnsentChange.Refusal
    }

    /// Later changes have greater ones, and no two changes of a device the same, whichever process made them.
    public let id: Int64
    /// The stream that it changes, as in `contacts`.
    public let stream: String
    /// The command's name, as in `SendPing`.
    public let command: String
    /// When the person acted, by the device's clock.
    public let acted: Instant
    /// It isn't sent when it is older, unless the server may know it.
    public internal(set) var lifetime: Interval
    /// When the person acted, by the server's clock, if that was known.
    let actedAtServer: Instant?
    /// Whose change it is; nil if an older release of the app kept it.
    var account: AccountID?
    /// The edit as its client encodes it.
    var edit: Data
    /// Of one that joined others: edits that change none of the same, and that together do what it does; nil for one alone.
    var parts: [Data]?
    var lost: Lost?
    /// When the person acted; nil if an older release of the app kept it.
    var moment: Moment?
    /// The command's order key; nil if an older release of the app kept it.
    var order: String?
    var key = RequestKey()
    /// What was sent; nil before the first attempt. It stays the same as long as the key does.
    var body: Data?
    /// How often the server failed to handle it.
    var failures: Int?
    /// Those whose place it took, while the device may still have them.
    var replaced: [Replaced]?
    /// The server's command, once it is accepted. The item is then kept until the device's copy has what it did.
    var accepted: CommandID?
    /// With that, the version that it made of what it replaced as a whole.
    var made: Int64?
    /// Why it ended without being sent. The item is then kept until a person has read that.
    var unsent: UnsentChange.Reason?
    /// With ``UnsentChange/Reason/refused``: what the server said.
    var refusal: UnsentChange.Refusal?

    /// Whether the server may know it. Then it can't be cancelled any more.
    public var isSent: Bool { body != nil }
    public var canCancel: Bool { body == nil }
    /// What it goes before, and what goes before it.
    public var precedence: Sending.Precedence { topic?.precedence ?? .normal }
    /// Nil for a command that this version of the app doesn't know.
    var topic: Sending.Topic? { appCommands[command]?.sending.topic }

    /// Items of one lane are sent one after the other.
    public var lane: String { order ?? stream }
    /// Whether it won't be sent any more, and is kept for another reason.
    public var isOver: Bool { accepted != nil || unsent != nil }
    /// What became of one that is over.
    var result: Result<CommandReply, QuartetError>? {
        if let accepted { return .success(CommandReply(command: accepted, event: command)) }
        return unsent.map { .failure($0.error(refusal)) }
    }
    /// Whether one that a store has can be removed by a process that knows it as `base`; nil if the server has decided it.
    public func canEnd(knownAs base: OutboxItem?) -> Bool {
        guard accepted == nil else { return false }
        guard let base else { return true }
        return !isSent && !isOver || isSame(as: base)
    }
    /// Whether it is what another is, as far as the server can know.
    public func isSame(as other: Self) -> Bool { key == other.key && body == other.body }

    /// Whether a person made it before another one. Its number says that only as long as nobody sets the device's clock, or of two that
    /// were made at the same time.
    func isEarlier(than other: Self) -> Bool {
        if let moment, let others = other.moment, moment.epoch == others.epoch {
            return (moment.time, id) < (others.time, other.id)
        }
        if let actedAtServer, let others = other.actedAtServer { return (actedAtServer, id) < (others, other.id) }
        return id < other.id
    }

    /// The same under another number, before anything was done with it.
    func numbered(_ id: Int64) -> Self {
        Self(
            id: id, stream: stream, command: command, acted: acted, lifetime: lifetime, actedAtServer: actedAtServer,
            account: account, edit: edit, moment: moment, order: order)
    }

    /// About how many bytes it takes.
    var size: Int { edit.count + (parts ?? []).reduce(body?.count ?? 0) { $0 + $1.count } + 200 }

    /// How old it is when the server's clock says `now`.
    func age(_ now: Instant, by time: Timekeeper) -> Interval {
        let age =
            if let moment, moment.epoch == time.epoch {
                Interval(time.uptime - moment.time)
            } else if let actedAtServer {
                now - actedAtServer
            } else {
                // The device was started since, and had never heard the server's time: its own clock is all there is.
                time.wall() - acted
            }
        return max(.seconds(0), age)
    }
}

/// What became of an item.
public struct OutboxEvent: Hashable, Sendable {
    public let item: OutboxItem
    /// Why it didn't happen; nil if the server accepted it.
    public let error: QuartetError?
}
