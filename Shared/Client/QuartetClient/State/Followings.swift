import QuartetSessionContract
import Synchronization

/// The copies of group sessions that somebody holds: one copy of each, however many hold it.
final class Followings<Copy: StreamConsumer>: Sendable {
    private struct Entry: Sendable {
        weak let following: Following<Copy>?
    }

    private let service: Connection
    private let make: @Sendable (GroupID) -> Copy
    private let entries = Mutex<[GroupID: Entry]>([:])

    init(_ service: Connection, _ make: @escaping @Sendable (GroupID) -> Copy) {
        self.service = service
        self.make = make
    }

    /// Follows a session as long as what this returns is held.
    func hold(_ group: GroupID) throws(QuartetError) -> Following<Copy> {
        if let held = held(group) { return held }
        let new = try Following(make(group), of: group, by: service)
        return entries.withLock { entries in
            // Somebody may have been quicker; the second one ends with this call.
            if let other = entries[group]?.following { return other }
            entries = entries.filter { $0.value.following != nil }
            entries[group] = Entry(following: new)
            return new
        }
    }

    /// Nil if nobody holds it.
    func held(_ group: GroupID) -> Following<Copy>? { entries.withLock { $0[group]?.following } }
}

/// Has the stream follow a group session until nobody holds this.
final class Following<Copy: StreamConsumer>: Sendable {
    let copy: Copy
    let group: GroupID
    private let service: Connection

    fileprivate init(_ copy: Copy, of group: GroupID, by service: Connection) throws(QuartetError) {
        try service.follow(group, for: [copy])
        self.copy = copy
        self.group = group
        self.service = service
    }

    deinit { service.unfollow(group, for: [copy]) }

    /// Loads the whole state again.
    func refresh() { service.refetch(.group(group)) }
}
