import QuartetSessionContract
import QuartetVocabulary

/// What an event of a group session says of those whom it is to be told: who invited whom, which is nobody else's business. The
/// policy needs it, and apps never see it.
enum GroupAudience {
    private static let fields = [ParticipantJoined.type: "start", GroupSessionEnded.type: "guests"]

    /// An event's body without it.
    static func withheld(from body: [UInt8], of type: String) -> [UInt8] {
        guard let field = fields[type], case .object(var members)? = try? Encoded<JSONValue>(json: body).decoded(),
            members.removeValue(forKey: field) != nil,
            let rest = try? Encoded(JSONValue.object(members)).json
        else { return body }
        return rest
    }
}
