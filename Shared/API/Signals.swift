import Foundation
import QuartetSessionContract
public import QuartetVocabulary

/// `POST /v1/groups/{group}/signals`: an unreliable message to participants of a group session.
public struct SignalRequest: MessageBody {
    /// Its subject: of what waits for a connection, only a sender's newest signal of a topic is kept.
    ///
    /// The topics `typing`, `cursor` and so on have the data of the kind of message of that name.
    public let topic: String
    /// The content, at most ``MessageRules/signalDataLimit`` bytes of JSON.
    public let data: JSONValue?
    /// The recipients; everyone in the session unless given.
    public let to: [AccountID]?

    public init(topic: String, data: JSONValue? = nil, to: [AccountID]? = nil) {
        (self.topic, self.data, self.to) = (topic, data, to)
    }

    package func validate() throws(Rejection) {
        try MessageRules.check(topic, field: "topic")
        try MessageRules.check(recipients: to)
        try MessageRules.check(data, limit: MessageRules.signalDataLimit)
        _ = try MessageContent(type: topic, data: data)
    }
}

/// A signal, as its recipients get it. It has no place in any stream, and is never sent again.
public struct SignalEvent: Hashable, Sendable {
    public let group: GroupID
    /// The sender.
    public let account: AccountID
    public let topic: String
    /// The whole signal as JSON.
    public let json: [UInt8]

    private struct Head: Encodable {
        let group: GroupID
        let account: AccountID
        let to: [AccountID]?
        let topic: String
        let at: Instant
    }

    /// - Parameter data: JSON, which stays as it is; empty for none.
    package init(
        group: GroupID, account: AccountID, to: [AccountID]?, topic: String, data: [UInt8], at: Instant
    ) {
        (self.group, self.account, self.topic) = (group, account, topic)
        let head = Head(group: group, account: account, to: to, topic: topic, at: at)
        var json = (try? JSONEncoder().encode(head)).map(Array.init) ?? Array("{}".utf8)
        if !data.isEmpty {
            json.removeLast()
            json += Array(",\"data\":".utf8) + data + [UInt8(ascii: "}")]
        }
        self.json = json
    }
}
