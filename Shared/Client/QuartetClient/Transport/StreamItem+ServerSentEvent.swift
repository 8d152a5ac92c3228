import API
import Foundation
import Vocabulary

extension StreamItem {
    /// Nil for an event that only a newer server knows.
    /// - Throws: ``TransportError/malformed(_:)``.
    init?(_ item: ServerSentEventParser.Item) throws(TransportError) {
        switch item {
        case .heartbeat: self = .heartbeat()
        case .event(let event):
            switch event.name {
            case "end":
                // An end for a reason that only a newer server knows is still one.
                let end = try? JSONDecoder().decode(StreamEnd.self, from: Data(event.data))
                self = .end(end ?? StreamEnd(.reconnect))
            case "heartbeat": self = .heartbeat(place: event.id)
            case "person": self = .event(.person(Encoded(json: event.data)), place: event.id)
            case "person.ended":
                guard let ended = try? JSONDecoder().decode(PersonEnded.self, from: Data(event.data)) else {
                    throw .malformed("person.ended must name an account")
                }
                self = .event(.personEnded(ended), place: event.id)
            default:
                guard let event = try Self.sequenceEvent(event) else { return nil }
                self = event
            }
        }
    }

    private static func sequenceEvent(_ event: ServerSentEvent) throws(TransportError) -> Self? {
        let words = event.name.split(separator: ".", maxSplits: 1)
        guard words.count == 2, let name = StreamName.ofAccount.first(where: { $0.family == words[0] }) else {
            return nil
        }
        switch words[1] {
        case "resumed": return .event(.resumed(name), place: event.id)
        case "snapshot":
            let members = try JSONMembers(event.data)
            guard let state = members["state"] else { throw .malformed("a snapshot must have a state") }
            let isRefetched = members["refetched"].map { $0.elementsEqual("true".utf8) } ?? false
            return .event(.snapshot(name, StreamSnapshot(isRefetched: isRefetched, state: state)), place: event.id)
        case "event":
            let members = try JSONMembers(event.data)
            guard let type = members.string("type"),
                let version = members.integer("version").flatMap({ Int16(exactly: $0) }),
                let at = members.integer("at"), let body = members["body"]
            else { throw .malformed("an event must have type, version, at and body") }
            let streamed = StreamedEvent(
                type: type, version: version, at: Instant(microseconds: at),
                correlation: members.string("correlation").flatMap { CorrelationID($0) },
                command: members.string("command").flatMap { CommandID($0) }, body: body)
            return .event(.event(name, streamed), place: event.id)
        default: return nil
        }
    }
}
