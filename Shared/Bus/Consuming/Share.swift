public import Vocabulary

/// A worker among those that share a source's partitions.
public struct Member: Hashable, Sendable {
    /// The worker.
    public let owner: OwnerID
    /// Its number among the workers of its process.
    public let slot: Int32
    /// What it has met and couldn't read.
    public let cannot: Set<String>

    /// All its parts, as the properties describe them.
    public init(owner: OwnerID, slot: Int32, cannot: Set<String> = []) {
        self.owner = owner
        self.slot = slot
        self.cannot = cannot
    }
}

extension Member {
    /// The partitions that are this member's: partition *i* belongs to the member at *i mod n* of the live ones in order.
    ///
    /// Slots are sorted first, so every process gets one partition before any process gets its second: the shares of
    /// processes, too, differ by at most one.
    /// - Parameter needs: what has to be known in some partitions. These are shared by the members that may know it, and by
    ///   all if none does.
    public func share(
        of partitions: Int32, among members: [Member], needs: [Partition: Set<String>] = [:]
    ) -> Set<Partition> {
        let sorted = members.sorted { ($0.slot, $0.owner) < ($1.slot, $1.owner) }
        return Set(
            (0..<partitions).lazy.map(Partition.init).filter { partition in
                let able =
                    needs[partition].map { needs in sorted.filter { $0.cannot.isDisjoint(with: needs) } } ?? sorted
                let candidates = able.isEmpty ? sorted : able
                return !candidates.isEmpty && candidates[Int(partition.number) % candidates.count].owner == owner
            })
    }
}
