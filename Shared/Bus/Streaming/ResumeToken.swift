package import QuartetVocabulary

/// A reader's place in a stream. With it, a reader goes on exactly where it stopped.
///
/// Its text has the form `log@incarnation/partition/position`. Apps keep it as it is.
package struct ResumeToken: Hashable, Sendable, LosslessStringConvertible {
    package let log: LogName
    package let incarnation: Incarnation
    package let partition: Partition
    package let position: Position

    package init(log: LogName, incarnation: Incarnation, partition: Partition, position: Position) {
        self.log = log
        self.incarnation = incarnation
        self.partition = partition
        self.position = position
    }

    package init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let name = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        let place = halves[1].split(separator: "/", omittingEmptySubsequences: false)
        guard name.count == 2, place.count == 3,
            let incarnation = Incarnation(String(place[0])),
            let partition = Int32(place[1]), partition >= 0,
            let position = Int64(place[2]), position >= 0
        else { return nil }
        self.init(
            log: LogName(schema: String(name[0]), table: String(name[1])), incarnation: incarnation,
            partition: Partition(partition), position: Position(position))
    }

    package var description: String { "\(log)@\(incarnation)/\(partition)/\(position)" }
}
