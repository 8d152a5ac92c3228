public import QuartetVocabulary

/// What goes wrong with one request of a device's, or with the answer to it.
public enum WorldTrouble: Hashable, Sendable {
    /// The server isn't reached, and the app knows that nothing was done.
    case unreachable
    /// The request is lost on the way, which the app can't tell from a lost answer.
    case lostRequest
    /// What was asked for happens, and the answer is lost.
    case lostAnswer
    /// What was asked for happens, and the answer comes after so long. An app that is killed meanwhile never hears it.
    case slow(Interval)
    /// The request hangs in the app's transport, which can't be cancelled, and is only sent after so long.
    case late(Interval)
    /// A proxy or the page of a Wi-Fi answers, in HTML.
    case foreignAnswer
    /// The server has as much to do as it can (503).
    case overloaded
    /// The account sends too many commands (429).
    case tooManyCommands
    /// The service is stopped for so long. The command waits, and the server answers that it isn't decided yet (202). One that
    /// waited for longer than its type allows, mostly five minutes, is never handled (`expired`).
    case undecided(Interval)
    /// The service gives the command up: nothing was done, and never will be under its key (500, `failed`).
    case failed
    /// The access token isn't good any more (401).
    case refusedToken

    /// Whether it can only happen to a command.
    var isOfCommands: Bool {
        switch self {
        case .undecided, .failed, .tooManyCommands, .lostAnswer, .late: true
        case .unreachable, .lostRequest, .slow, .foreignAnswer, .overloaded, .refusedToken: false
        }
    }
}

/// What one device's network does.
struct WorldNetwork: Sendable {
    /// Until when nothing gets through.
    var cutUntil: Duration?
    /// What happens to the next requests, one each.
    var troubles: [WorldTrouble] = []
    /// Until when the stream is behind: the reply to a command came first.
    var heldUntil: Duration?

    /// What happens to a request that needs a token, or gets one.
    mutating func takeTrouble(isCommand: Bool) -> WorldTrouble? {
        guard let first = troubles.first, isCommand || !first.isOfCommands else { return nil }
        return troubles.removeFirst()
    }
}
