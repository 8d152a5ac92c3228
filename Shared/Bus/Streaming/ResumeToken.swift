public import Vocabulary

/// A reader's place in a stream. With it, a reader goes on exactly where it stopped.
///
/// Its text has the form `log@incarnation/partition/position`. Apps keep it as it is.
public struct ResumeToken: Hashable, Sendable, LosslessStringConvertible {
    public let log: LogName
    public let incarnation: Incarnation
    public let partition: Partition
    public let position: Position

    public init(log: LogName, incarnation: Incarnation, partition: Partition, position: Position) {
        self.log = log
        self.incarnation = incarnation
        self.partition = partition
        self.position = position
    }

    public init?(_ text: String) {
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

    public var description: String { "\(log)@\(incarnation)/\(partition)/\(position)" }
}
