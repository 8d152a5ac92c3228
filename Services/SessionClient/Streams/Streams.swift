import Bus
import Logging
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// A sequence that an app can follow: what it is read from, and the SQL of its state.
struct StreamSource: Sendable {
    let name: StreamName
    let reader: StreamReader
    let state: @Sendable (AccountID) throws -> Query
}

/// Everything that concerns an account, live, on one connection.
///
/// Each owner's stream is its own sequence: first a snapshot, or that it goes on, then its events. With each comes the place
/// in all sequences, from which another connection goes on exactly. The people in the caller's contacts come whole each time,
/// and are ended. A snapshot of contacts replaces them: the app drops people who aren't among its contacts. Where contacts
/// resumed, people are ended also for relations that ended while the app was away.
struct Streams: Sendable {
    let sources: [StreamSource]
    let people: PeopleSource
    let groups: GroupStreams
    let devices: Devices
    let extensions: StreamExtensions
    /// How long a write may take before the stream is closed.
    let writeDeadline: Duration
    let heartbeat: Duration
    private let places = Places<AccountID>(EdgeLimits.streamsOfAccount)
    private let placesOfDevice = Places<DeviceID>(EdgeLimits.streamsOfDevice)

    init(
        sources: [StreamSource], people: PeopleSource, groups: GroupStreams, devices: Devices,
        extensions: StreamExtensions, writeDeadline: Duration, heartbeat: Duration
    ) {
        self.sources = sources
        self.people = people
        self.groups = groups
        self.devices = devices
        self.extensions = extensions
        self.writeDeadline = writeDeadline
        self.heartbeat = heartbeat
    }

    /// - Parameters:
    ///   - groups: The group sessions to follow, as far as the caller may.
    ///   - filter: What of everything the app wants.
    /// - Throws: `tooManyStreams`; `invalidParameter` for too many group sessions.
    func open(
        for caller: Caller, after tokens: StreamTokens, following groups: Set<GroupID> = [],
        filter: StreamFilter = .everything, _ logger: Logger
    ) throws(APIError) -> StreamConnection {
        guard groups.count <= GroupStreams.limit else {
            throw APIError(
                .invalidParameter, "Follow at most \(GroupStreams.limit) group sessions on one stream.", field: "group")
        }
        guard let ofDevice = placesOfDevice.enter(caller.device) else {
            throw APIError(
                .tooManyStreams, "This device has \(placesOfDevice.limit) streams open; close one first.", retryAfter: 5
            )
        }
        guard let ofAccount = places.enter(caller.account) else {
            throw APIError(
                .tooManyStreams, "This account has \(places.limit) streams open; close one first.", retryAfter: 5)
        }
        return StreamConnection(
            caller: caller, tokens: tokens.following(groups), groups: groups.sorted(), filter: filter, streams: self,
            place: StreamPlace(ofAccount: ofAccount, ofDevice: ofDevice), logger: logger)
    }
}

/// An open stream's place among those of its account and its device.
struct StreamPlace: Sendable {
    let ofAccount: Places<AccountID>.Place
    let ofDevice: Places<DeviceID>.Place

    func leave() {
        ofAccount.leave()
        ofDevice.leave()
    }
}
