/// What the device has of an item that waits, as far as this process knows. It may differ from the item: the device failed to write
/// that, or hasn't yet.
struct Kept: Sendable {
    /// As it was last read or written; nil if the device may have nothing of it.
    var last: OutboxItem?
    /// What it is asked to write, by the numbers of the writes.
    private var pending: [Int: OutboxItem] = [:]
    /// The last write that was begun.
    private(set) var newest = 0

    init(last: OutboxItem? = nil) { self.last = last }

    /// As it was sent; nil if the device has it unsent, or nothing.
    var base: OutboxItem? { last.flatMap { $0.isSent ? $0 : nil } }
    /// As others may find it sent, be it only for a while; nil if they can't.
    var sent: OutboxItem? { pending.filter { $0.value.isSent }.max { $0.key < $1.key }?.value ?? base }
    var mayBeSent: Bool { sent != nil }
    var isBeingWritten: Bool { !pending.isEmpty }

    func has(_ item: OutboxItem) -> Bool { last?.isSame(as: item) ?? false }

    mutating func begin(_ write: Int, of item: OutboxItem) { (pending[write], newest) = (item, write) }
    mutating func end(_ write: Int) { pending[write] = nil }
}
