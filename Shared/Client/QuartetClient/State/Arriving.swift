public import QuartetContactsContract
public import QuartetContractSupport
public import QuartetSessionContract
public import QuartetVocabulary

/// An element of a list that came in at a certain place, the same one for everybody who has the list.
///
/// ``Ordered`` keeps its elements in the order of their ids, so that equal lists compare equal. Its ``Ordered/byArrival`` is the order in
/// which they were inserted, also after a snapshot has replaced the whole list.
public protocol Arriving {
    associatedtype Arrival: Comparable

    var arrival: Arrival { get }
}

extension Ordered where Element: Arriving {
    /// The elements in the order in which they came in, those that came at the same time in the order of their ids. One that was changed
    /// keeps its place; one that left and came back is the last.
    public var byArrival: [Element] {
        sorted { ($0.arrival, $0.id) < ($1.arrival, $1.id) }
    }
}

extension Contact: Arriving {
    public var arrival: Instant { added }
}

extension ContactRequest: Arriving {
    public var arrival: Instant { requested }
}

extension GroupParticipant: Arriving {
    public var arrival: Int { ordinal }
}

extension Invitation: Arriving {
    public var arrival: Instant { at }
}

extension GroupAttachment: Arriving {
    public var arrival: Instant { added }
}

extension Device: Arriving {
    public var arrival: Instant { signedIn }
}
