import QuartetVocabulary

/// One of the workers that share a source's partitions.
struct Member: Hashable, Sendable {
    let owner: OwnerID
    /// Its number among the workers of its process.
    let slot: Int32
    /// What it couldn't read.
    var cannot: Set<String> = []
}

extension Member {
    /// The partitions that belong to this member: partition *i* goes to the member at *i mod n* of the sorted live
    /// members.
    ///
    /// Slots are sorted first, so every process gets one partition before any gets its second, and the shares of
    /// processes differ by at most one, too.
    /// - Parameter needs: What a worker must be able to read in some partitions. The members that can share these
    ///   partitions; if none can, those that lack only the careful turn, which is soon free; or else all members.
    func share(
        of partitions: Int32, among members: [Member], needs: [Partition: Set<String>] = [:]
    ) -> Set<Partition> {
        let sorted = members.sorted { ($0.slot, $0.owner) < ($1.slot, $1.owner) }
        return Set(
            (0..<partitions).lazy.map(Partition.init).filter { partition in
                let needs = needs[partition] ?? []
                let candidates =
                    [needs, needs.subtracting([Careful.turn])].lazy
                    .map { needs in sorted.filter { $0.cannot.isDisjoint(with: needs) } }
                    .first { !$0.isEmpty } ?? sorted
                return !candidates.isEmpty && candidates[Int(partition.number) % candidates.count].owner == owner
            })
    }
}
