import QuartetAPI
import QuartetClient
import QuartetProto
import QuartetSessionContract
import QuartetVocabulary

extension StreamItem {
    /// Nil for what only a newer server knows.
    /// - Throws: ``TransportError/malformed(_:)``.
    init?(_ message: Quartet_V1_StreamMessage) throws(TransportError) {
        let place = message.hasPosition ? message.position : nil
        switch message.content {
        case nil: return nil
        case .heartbeat: self = .heartbeat(place: place)
        case .begun(let begun):
            self = .event(.begun(StreamBegun(stream: begun.stream, expiresIn: begun.expiresIn)), place: nil)
        case .snapshot(let snapshot):
            guard let name = StreamName(snapshot.stream) else { return nil }
            let state = StreamSnapshot(
                isRefetched: snapshot.refetched, hash: snapshot.hasHash ? snapshot.hash : nil,
                state: Array(snapshot.state.utf8))
            self = .event(.snapshot(name, state), place: place)
        case .resumed(let resumed):
            guard let name = StreamName(resumed.stream) else { return nil }
            self = .event(.resumed(name), place: place)
        case .event(let event):
            guard let name = StreamName(event.stream) else { return nil }
            guard let version = Int16(exactly: event.version) else {
                throw .malformed("an event's version must be a small number")
            }
            let streamed = StreamedEvent(
                type: event.type, version: version, at: Instant(microseconds: event.at),
                correlation: event.hasCorrelation ? CorrelationID(event.correlation) : nil,
                command: event.hasCommand ? CommandID(event.command) : nil, hash: event.hasHash ? event.hash : nil,
                body: Array(event.body.utf8))
            self = .event(.event(name, streamed), place: place)
        case .end(let end):
            // An end for a reason that only a newer server knows is still one.
            let reason = StreamEnd.Reason(rawValue: end.reason) ?? .reconnect
            self = .end(StreamEnd(reason, why: end.hasWhy ? SignOutReason(rawValue: end.why) : nil))
        case .groupEnded(let ended):
            guard let group = GroupID(ended.group), let reason = GroupStreamEnded.Reason(rawValue: ended.reason) else {
                throw .malformed("the end of a group session must name it and a reason")
            }
            self = .event(.groupEnded(GroupStreamEnded(group: group, reason: reason)), place: place)
        case .groups(let json): self = .event(.groups(Encoded(json: Array(json.utf8))), place: place)
        case .person(let json): self = .event(.person(Encoded(json: Array(json.utf8))), place: place)
        case .personEnded(let account):
            guard let account = AccountID(account) else { throw .malformed("an account's end must name it") }
            self = .event(.personEnded(PersonEnded(account: account)), place: place)
        case .signal(let json): self = .event(.signal(try Self.signal(Array(json.utf8))), place: place)
        }
    }
}
