import Foundation
import QuartetAPI
import QuartetVocabulary

/// What a person wants changed, as data: it is shown, kept on the device, and sent as a command when its turn comes.
protocol ClientEdit: Codable, Sendable {
    associatedtype State: Sendable

    /// Its command, unless that depends on what the server has.
    var command: any AppCommandBody { get }
    /// The people about whom it changes something; nil for any.
    var touched: Set<AccountID>? { get }

    /// Changes a copy as the command will.
    /// - Parameter time: When the person acted.
    func show(in state: inout State, at time: Instant)
    /// Changes the only copy that there is, where no server has to agree.
    func make(in state: inout State, at time: Instant)

    /// The edit that does what this one and an earlier one do, which then isn't sent; nil if both are sent.
    /// - Parameter state: What the earlier one stands on, as far as it is known: what the server has, and what waits before it.
    func merged(with earlier: Self, on state: State?) -> Self?

    /// Whether both change something of the same.
    func overlaps(_ other: Self) -> Bool

    /// The version of what it replaces as a whole, as the person saw it; nil if it replaces whatever there is.
    var expectedVersion: Int64? { get }
    /// The same edit for another version.
    func expecting(_ version: Int64) -> Self
    /// The present version of that.
    static func version(in state: State) -> Int64
    /// The version that a command made of it; nil if it made none.
    static func version(madeBy reply: CommandReply) -> Int64?

    /// Whether the server's state has what the edit shows, though its command brought no event. It shows until then.
    func isPart(of state: State) -> Bool

    /// The command to send now.
    /// - Parameters:
    ///   - state: What the server has, as far as it is known: it may be older than what the edit is about.
    ///   - acted: When the person acted, by the server's clock.
    func command(for state: State?, at acted: Instant) -> any AppCommandBody

    /// The command to send after one was refused because somebody else was quicker.
    /// - Parameter current: What the server has now, as it came with the refusal.
    /// - Returns: Nil if the refusal stands.
    func command(basedOn current: [UInt8]) throws(QuartetError) -> (any AppCommandBody)?
}

extension ClientEdit {
    var touched: Set<AccountID>? { nil }

    func merged(with earlier: Self, on state: State?) -> Self? { nil }
    func overlaps(_ other: Self) -> Bool { true }
    func make(in state: inout State, at time: Instant) { show(in: &state, at: time) }
    var expectedVersion: Int64? { nil }
    func expecting(_ version: Int64) -> Self { self }
    static func version(in state: State) -> Int64 { 0 }
    static func version(madeBy reply: CommandReply) -> Int64? { nil }
    func isPart(of state: State) -> Bool { true }
    func command(for state: State?, at acted: Instant) -> any AppCommandBody { command }
    func command(basedOn current: [UInt8]) throws(QuartetError) -> (any AppCommandBody)? { nil }
}

/// What an item's edit and an earlier one's do together.
struct JoinedEdit: Sendable {
    let edit: Data
    /// See ``OutboxItem/parts``.
    let parts: [Data]?
}

/// One client's edits, as the outbox sees them.
protocol EditQueue: AnyObject, Sendable {
    var stream: String { get }
    /// The items that still show on top of what the server has.
    var openEdits: Set<OutboxItem.ID> { get }

    /// The order key of an item's command.
    func order(of item: OutboxItem) throws(QuartetError) -> String
    /// The version that a command made of what it replaces as a whole; nil if it made none.
    func version(madeBy reply: CommandReply) -> Int64?
    /// An edit for what the device's own changes have made of the version that its person saw.
    func followingOwn(_ edit: Data, of account: AccountID) -> Data
    /// Shows an item that was kept on the device, or got another number; an accepted one until its event is here.
    /// - Throws: If this version of the app can't read it.
    func restore(_ item: OutboxItem) throws(QuartetError)
    /// An item's edit that also does what an earlier one's does; nil if both are to be sent.
    func merged(_ item: OutboxItem, with earlier: OutboxItem) -> JoinedEdit?
    /// What of a joined item can be sent after a refusal, and what not; nil if that isn't some of each.
    func split(_ item: OutboxItem, basedOn current: [UInt8]) -> (rest: JoinedEdit, lost: Data)?
    /// Whether both edits change something of the same.
    func overlap(_ edit: Data, _ other: Data) -> Bool
    /// Shows an item's edit, which isn't what it was: instead of the earlier item's as well, if it now does what that did.
    func show(_ item: OutboxItem, insteadOf earlier: OutboxItem?)
    /// The body of the item's command.
    /// - Parameter acted: When the person acted, by the server's clock.
    func body(of item: OutboxItem, at acted: Instant) throws(QuartetError) -> [UInt8]
    /// The same after a refusal; nil if that stands.
    func body(of item: OutboxItem, basedOn current: [UInt8]) throws(QuartetError) -> [UInt8]?
    /// The server has decided it, or it won't be sent.
    func decided(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>)
}
