import EdgeClient
import Games
import Synchronization

/// Somebody who plays: follows the session's stream and knows the game by what comes there alone.
final class Player: Sendable {
    private struct State {
        var game: [String: JSON] = [:]
        var version: Int64 = 0
        var seen: Set<String> = []
        var lastEventID: String?
        var task: Task<Void, any Error>?
    }

    let name: String
    let device: Device
    private let narrator: Narrator
    private let state = Mutex(State())

    init(name: String, device: Device, narrator: Narrator) {
        (self.name, self.device, self.narrator) = (name, device, narrator)
    }

    /// The board as the stream has it, and the version that it is of.
    var game: (board: FourInARow, version: Int64) {
        get throws {
            let (game, version) = state.withLock { ($0.game, $0.version) }
            return (try FourInARow(.object(game)), version)
        }
    }

    /// Follows the session, from where the stream was lost if it was.
    func connect(to group: String) async throws {
        let stream = try await device.edge.stream(
            token: device.token, following: [group], after: state.withLock(\.lastEventID))
        let task = Task { for try await event in stream { self.take(event) } }
        state.withLock { $0.task = task }
    }

    /// Loses the connection without a word.
    func disconnect() async {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
        _ = await task?.result
    }

    private func take(_ event: ServerSentEvent) {
        let (type, body) = (event.data["type"].string ?? event.name, event.data["body"])
        state.withLock { state in
            if let id = event.id { state.lastEventID = id }
            guard event.name.hasPrefix("group") else { return }
            state.seen.insert(type)
            let (changed, version) =
                event.name == "group.snapshot"
                ? (event.data["state"]["game"]["state"], event.data["state"]["game"]["version"])
                : (body["state"] == .null ? body["patch"] : body["state"], body["version"])
            if case .object(let members) = changed { state.game.merge(members) { $1 } }
            if let version = version.int { state.version = version }
        }
        if let text = describe(type, body) { narrator.sees(name, text) }
    }

    private func describe(_ type: String, _ body: JSON) -> String? {
        let who = narrator.name(body["account"])
        return switch type {
        case "ParticipantJoined": "\(who) joined"
        case "ParticipantDisconnected": "\(who) has lost the connection"
        case "ParticipantConnected": "\(who) is back"
        case "SeatClaimed": "\(who) sits on seat \(body["seat"].int ?? 0)"
        case "GameStarted": "the game begins"
        case "GameFinished": "the game is over"
        case "GroupSessionEnded": "the session is over"
        default: nil
        }
    }

    /// Waits until something of this type came since the last call.
    func expect(_ type: String) async throws {
        try await wait(for: type) { $0.seen.remove(type) != nil }
    }

    /// Waits until the game is at a version.
    func waitFor(version: Int64) async throws {
        try await wait(for: "version \(version) of the game") { $0.version >= version }
    }

    private func wait(for what: String, _ isThere: (inout State) -> Bool) async throws {
        for _ in 0..<1500 {
            if state.withLock({ isThere(&$0) }) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Viewer.Missed(description: "\(name) did not see \(what) within fifteen seconds")
    }
}
