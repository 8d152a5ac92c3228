import Foundation
package import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

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
            case "begun":
                guard let begun = try? JSONDecoder().decode(StreamBegun.self, from: Data(event.data)) else {
                    throw .malformed("begun must name the stream")
                }
                self = .event(.begun(begun), place: nil)
            case "groups": self = .event(.groups(Encoded(json: event.data)), place: event.id)
            case "signal": self = .event(.signal(try Self.signal(event.data)), place: event.id)
            case "group.ended":
                guard let ended = try? JSONDecoder().decode(GroupStreamEnded.self, from: Data(event.data)) else {
                    throw .malformed("group.ended must name a group session and a reason")
                }
                self = .event(.groupEnded(ended), place: event.id)
            default:
                guard let event = try Self.sequenceEvent(event) else { return nil }
                self = event
            }
        }
    }

    private static func sequenceEvent(_ event: ServerSentEvent) throws(TransportError) -> Self? {
        let words = event.name.split(separator: ".", maxSplits: 1)
        guard words.count == 2, ["resumed", "snapshot", "event"].contains(words[1]) else { return nil }
        let members = try JSONMembers(event.data)
        guard let name = try name(words[0], members) else { return nil }
        switch words[1] {
        case "resumed": return .event(.resumed(name), place: event.id)
        case "snapshot":
            guard let state = members["state"] else { throw .malformed("a snapshot must have a state") }
            let isRefetched = members["refetched"].map { $0.elementsEqual("true".utf8) } ?? false
            let snapshot = StreamSnapshot(isRefetched: isRefetched, hash: members.string("hash"), state: state)
            return .event(.snapshot(name, snapshot), place: event.id)
        default:
            guard let type = members.string("type"),
                let version = members.integer("version").flatMap({ Int16(exactly: $0) }),
                let at = members.integer("at"), let body = members["body"]
            else { throw .malformed("an event must have type, version, at and body") }
            let streamed = StreamedEvent(
                type: type, version: version, at: Instant(microseconds: at),
                correlation: members.string("correlation").flatMap { CorrelationID($0) },
                command: members.string("command").flatMap { CommandID($0) }, hash: members.string("hash"), body: body)
            return .event(.event(name, streamed), place: event.id)
        }
    }

    /// The sequence that an event is of; nil for one that only a newer server knows.
    private static func name(_ family: Substring, _ members: JSONMembers) throws(TransportError) -> StreamName? {
        guard family == "group" else { return StreamName.ofAccount.first { $0.family == family } }
        guard let group = members.string("group").flatMap({ GroupID($0) }) else {
            throw .malformed("an event of a group session must name it")
        }
        return .group(group)
    }

    /// - Parameter data: JSON.
    package static func signal(_ data: [UInt8]) throws(TransportError) -> SignalEvent {
        let members = try JSONMembers(data)
        guard let group = members.string("group").flatMap({ GroupID($0) }),
            let account = members.string("account").flatMap({ AccountID($0) }), let topic = members.string("topic"),
            let at = members.integer("at")
        else { throw .malformed("a signal must have group, account, topic and at") }
        let to = members["to"].flatMap { try? JSONDecoder().decode([AccountID].self, from: Data($0)) }
        return SignalEvent(
            group: group, account: account, to: to, topic: topic, data: members["data"] ?? [],
            at: Instant(microseconds: at))
    }
}
