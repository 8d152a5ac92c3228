import Foundation
public import QuartetContractSupport
import QuartetVocabulary

/// A group session's state with its hash, which follows each event by what it changes.
///
/// The entities are the session itself, each participant, each invitation, the game, the playback, the queue unless it is
/// empty, and each attachment. Each is what it is in the JSON of the state, with one member more, `entity`, that says what it is:
/// `session` (the state without all the others), `participant`, `invitation`, `game`, `playback`, `attachment`, or `queue`, whose
/// member `items` has the queue.
public struct HashedGroupState: Hashable, Sendable {
    /// The state.
    public private(set) var state: GroupState
    /// Its hash.
    public private(set) var hash = StateHash()
    /// What each entity adds to it.
    private var parts: [Entity: StateHash.Entity] = [:]

    private enum Entity: Hashable {
        case session, game, playback, queue
        case participant(AccountID)
        case invitation(AccountID)
        case attachment(ContentHash)
    }

    /// Hashes a whole state.
    public init(_ state: GroupState) {
        self.state = state
        for entity in all { update(entity) }
    }

    /// Takes in the next event of the stream.
    public mutating func apply(_ event: SessionEvent) {
        let changed = entities(changedBy: event)
        state.apply(event)
        for entity in changed { update(entity) }
    }

    private mutating func update(_ entity: Entity) {
        if let former = parts[entity] { hash.remove(former) }
        parts[entity] = value(of: entity).map(StateHash.Entity.init)
        if let part = parts[entity] { hash.add(part) }
    }

    private var all: [Entity] {
        [.session, .game, .playback, .queue] + state.participants.map { .participant($0.id) }
            + state.invited.map { .invitation($0.id) } + state.attachments.map { .attachment($0.id) }
    }

    private func entities(changedBy event: SessionEvent) -> [Entity] {
        switch event {
        case .group(.groupSessionCreated(let event)): [.session, .participant(event.account)]
        case .group(.participantsInvited(let event)): event.invited.map { .invitation($0) }
        case .group(.invitationWithdrawn(let event)): [.invitation(event.account)]
        case .group(.participantJoined(let event)):
            [.session, .participant(event.account), .invitation(event.account)]
        case .group(.participantUpdated(let event)): [.participant(event.account)]
        case .group(.participantDisconnected(let event)): [.participant(event.account)]
        case .group(.participantConnected(let event)): [.participant(event.account)]
        case .group(.participantLeft(let event)): [.session, .participant(event.account)]
        case .group(.hostTransferred): [.session]
        case .group(.groupSessionEnded): all
        case .game(.seatClaimed(let event)): [.participant(event.account)]
        case .game(.seatMoved(let event)): [.participant(event.account)]
        case .game(.seatReleased(let event)): [.participant(event.account)]
        case .game(.gameStarted), .game(.gameUpdated), .game(.gameFinished): [.game]
        case .playback(.playbackSet): [.playback]
        case .playback(.itemStarted): [.playback, .queue]
        case .playback(.queueItemsInserted), .playback(.queueItemMoved), .playback(.queueItemsRemoved): [.queue]
        case .playback(.readinessDeclared(let event)): [.participant(event.account)]
        case .playback(.suspensionBegan(let event)): [.playback, .participant(event.account)]
        case .playback(.suspensionEnded(let event)): [.playback, .participant(event.account)]
        case .attachment(.attachmentAdded(let event)): [.attachment(event.attachment)]
        case .attachment(.attachmentRemoved(let event)): [.attachment(event.attachment)]
        default: []
        }
    }

    private func value(of entity: Entity) -> JSONValue? {
        switch entity {
        case .session:
            guard state.creator != nil else { return nil }
            var session = state
            (session.participants, session.invited, session.game) = ([], [], nil)
            (session.playback, session.queue, session.attachments) = (nil, [], [])
            return Self.json(session, "session", without: ["participants", "invited", "queue", "attachments"])
        case .game: return state.game.flatMap { Self.json($0, "game") }
        case .playback: return state.playback.flatMap { Self.json($0, "playback") }
        case .queue: return state.queue.isEmpty ? nil : Self.json(["items": state.queue], "queue")
        case .participant(let id): return state.participants[id].flatMap { Self.json($0, "participant") }
        case .invitation(let id): return state.invited[id].flatMap { Self.json($0, "invitation") }
        case .attachment(let id): return state.attachments[id].flatMap { Self.json($0, "attachment") }
        }
    }

    private static func json(_ value: some Encodable, _ entity: String, without left: [String] = []) -> JSONValue? {
        guard let data = try? JSONEncoder().encode(value),
            case .object(var members)? = try? JSONDecoder().decode(JSONValue.self, from: data)
        else { return nil }
        for name in left { members[name] = nil }
        members["entity"] = .string(entity)
        return .object(members)
    }
}
