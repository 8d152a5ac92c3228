import Foundation
public import Vocabulary

/// A change that a person made and the server hasn't decided.
public struct OutboxItem: Codable, Hashable, Sendable, Identifiable {
    /// Later changes have greater ones.
    public let id: Int64
    /// The stream that it changes, as in `contacts`. Items of one stream are sent one after the other.
    public let stream: String
    /// The command's name, as in `SendPing`.
    public let command: String
    /// When the person acted, by the device's clock.
    public let acted: Instant
    /// It isn't sent for the first time when it is older.
    public let lifetime: Interval
    /// When the person acted, by the server's clock, if that was known.
    let actedAtServer: Instant?
    /// The edit as its client encodes it.
    let edit: Data
    var key = RequestKey()
    /// What was sent; nil before the first attempt. It stays the same as long as the key does.
    var body: Data?
    /// The server's command, once it is accepted. The item is then kept until the device's copy has what it did.
    var accepted: CommandID?

    /// Whether the server may know it. Then it can't be cancelled any more.
    public var isSent: Bool { body != nil }
    public var canCancel: Bool { body == nil }

    /// About how many bytes it takes.
    var size: Int { edit.count + (body?.count ?? 0) + 200 }

    /// How old it is when the server's clock says `now`.
    func age(_ now: Instant) -> Interval {
        // The device's clock may be wrong, but it runs as fast as others do.
        let age = actedAtServer.map { now - $0 } ?? (Instant.now - acted)
        return max(.seconds(0), age)
    }
}

/// What became of an item.
public struct OutboxEvent: Hashable, Sendable {
    public let item: OutboxItem
    /// Why it didn't happen; nil if the server accepted it.
    public let error: QuartetError?
}
