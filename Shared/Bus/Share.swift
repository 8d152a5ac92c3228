public import Vocabulary

/// A worker among those that share a source's partitions.
public struct Member: Hashable, Sendable {
    /// The worker.
    public let owner: OwnerID
    /// Its number among the workers of its process.
    public let slot: Int32

    /// All its parts, as the properties describe them.
    public init(owner: OwnerID, slot: Int32) {
        self.owner = owner
        self.slot = slot
    }
}

extension Member {
    /// The partitions that are this member's: partition *i* belongs to the member at *i mod n* of the live ones in order.
    ///
    /// Slots are sorted first, so every process gets one partition before any process gets its second: the shares of
    /// processes, too, differ by at most one.
    public func share(of partitions: Int32, among members: [Member]) -> Set<Partition> {
        let sorted = members.sorted { ($0.slot, $0.owner) < ($1.slot, $1.owner) }
        guard let place = sorted.firstIndex(of: self) else { return [] }
        return Set(stride(from: Int32(place), to: partitions, by: sorted.count).map(Partition.init))
    }
}
