import Bus
import QuartetAPI
import QuartetVocabulary

/// Where an app is in several streams, as one text: `name=token` separated by spaces.
struct StreamTokens: Sendable, CustomStringConvertible {
    private var tokens: [StreamName: ResumeToken] = [:]
    /// Each token as it is written: of several, one changes with each event.
    private var parts: [StreamName: String] = [:]

    /// - Throws: `malformedEventID` for what this server never gave.
    init(_ text: String) throws(APIError) {
        guard text.utf8.count <= 4096 else { throw Self.malformed }
        for part in text.split(separator: " ") {
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let token = ResumeToken(String(halves[1])) else { throw Self.malformed }
            // A stream that only another release knows.
            guard let name = StreamName(String(halves[0])) else { continue }
            self[name] = token
        }
    }

    subscript(name: StreamName) -> ResumeToken? {
        get { tokens[name] }
        set {
            tokens[name] = newValue
            parts[name] = newValue.map { "\(name)=\($0)" }
        }
    }

    /// Without the places in group sessions other than these, which the app follows no more.
    func following(_ groups: some Collection<GroupID>) -> StreamTokens {
        var kept = self
        for name in tokens.keys { if let group = name.group, !groups.contains(group) { kept[name] = nil } }
        return kept
    }

    var isEmpty: Bool { tokens.isEmpty }

    var description: String { parts.values.sorted().joined(separator: " ") }

    private static let malformed = APIError(.malformedEventID, field: "Last-Event-ID")
}
