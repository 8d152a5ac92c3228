import Foundation
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Testing

/// One stored example of every message that was ever published, as the logs keep it. Rows are never rewritten, so each of
/// these must always stay readable: add lines, never change one.
@Suite("Messages that were published")
struct PublishedMessagesTests {
    private struct Stored: Sendable {
        let set: String
        let type: String
        let version: Int16
        let body: [UInt8]
    }

    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    private static func stored(_ file: String) throws -> [Stored] {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Published/\(file).jsonl")
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            guard let set = object["set"] as? String, let type = object["type"] as? String,
                let version = object["version"] as? Int, let body = object["body"]
            else { throw Unreadable(description: "\(file): \(line)") }
            return Stored(
                set: set, type: type, version: Int16(version),
                body: Array(
                    try JSONSerialization.data(withJSONObject: body, options: [.sortedKeys, .withoutEscapingSlashes])))
        }
    }

    private static func check<Messages: MessageSet>(_ file: String, _ name: String, _: Messages.Type) throws {
        let stored = try stored(file).filter { $0.set == name }
        for message in stored {
            #expect(throws: Never.self, "\(file): \(message.type) \(String(decoding: message.body, as: UTF8.self))") {
                let read = try Messages(type: message.type, version: message.version, body: message.body)
                let body = try #require(read.body as? any MessageBody)
                #expect(type(of: body).type == message.type)
                // Nothing of it was overlooked.
                guard type(of: body).version == message.version else { return }
                #expect(try body.encoded() == message.body)
                #expect(try Self.isRead(message.body, as: body))
            }
        }
        let published = Set(stored.map { "\($0.type) \($0.version)" })
        let needed = Set(Messages.types.flatMap { type in (1...type.version).map { "\(type.type) \($0)" } })
        #expect(published == needed, "every version of every \(name) of \(file) has its example, and no other")
    }

    /// Whether Foundation reads the same.
    private static func isRead<Body: MessageBody>(_ text: [UInt8], as body: Body) throws -> Bool {
        try JSONDecoder().decode(Body.self, from: Data(text)) == body
    }

    @Test("apps may send these commands as they are, and no others")
    func publicCommands() {
        let all = SessionCommand.types + ContactsCommand.types + NotificationsCommand.types
        #expect(
            Set(all.filter { $0 is any PublicCommandBody.Type }.map { $0.type }) == [
                "UpdateProfile", "CheckIn", "SetCheckInInterval", "SetCheckInReminders", "SetCheckInGrace",
                "SetDailyCheckIns",
                "ResumeCheckIns", "RaiseAlert", "ClearAlert", "StartTrip", "ExtendTrip", "EndTrip",
                "SetContactApproval", "ApproveContactRequest", "DeclineContactRequest", "WithdrawContactRequest",
                "UpdateContact", "RequestRoleChange", "AcceptRoleChange", "DeclineRoleChange", "WithdrawRoleChange",
                "RemoveContact", "BlockContact", "UnblockContact", "SendPing", "CancelPing", "RespondToPing",
                "AcknowledgeAlarm", "SetResponderTiers", "SetPingEscalation", "SetPingQuietHours",
                "MarkRead", "AnswerDrill", "MarkAllRead", "ScheduleReminder", "CancelReminder",
                "ClearNotifications", "LeaveGroupSession",
                "RemoveParticipant",
                "TransferHost", "EndGroupSession", "ClaimSeat", "MoveSeat", "ReleaseSeat", "StartGame", "UpdateGame",
                "FinishGame", "SendGroupMessage",
                "SetPlayback", "PlayItem", "NextItem", "QueueInsert", "QueueMove", "QueueRemove", "DeclareReadiness",
                "BeginSuspension", "EndSuspension", "BeginAttachment", "AdoptChunks", "CompleteAttachment",
                "RemoveAttachment",
            ])
    }

    @Test("every version of each of session's messages is read")
    func session() throws {
        try Self.check("session", "command", SessionCommand.self)
        try Self.check("session", "event", SessionEvent.self)
    }

    @Test("every version of each of contacts' messages is read")
    func contacts() throws {
        try Self.check("contacts", "command", ContactsCommand.self)
        try Self.check("contacts", "event", ContactsEvent.self)
    }

    @Test("every version of each of notifications' messages is read")
    func notifications() throws {
        try Self.check("notifications", "command", NotificationsCommand.self)
        try Self.check("notifications", "event", NotificationsEvent.self)
    }
}

/// How an older version is read: by a body that changed twice.
@Suite("Upcasting")
struct UpcastingTests {
    struct Greeted: MessageBody {
        static let version: Int16 = 3
        let name: String
        let language: String

        static func upcast(from body: [UInt8], version: Int16) throws(MessageError) -> Self {
            switch version {
            case 1: Greeted(name: try First.decoded(from: body).who, language: "en")
            case 2: Greeted(name: try Second.decoded(from: body).name, language: "en")
            default: throw .unknownType(type, version: version)
            }
        }

        struct First: MessageBody { let who: String }
        struct Second: MessageBody { let name: String }
    }

    @Test("every former version is read as today's; one that never was is unknown")
    func versions() throws {
        let today = Greeted(name: "Anna", language: "en")
        #expect(try Greeted.decoded(from: Array(#"{"who":"Anna"}"#.utf8), version: 1) == today)
        #expect(try Greeted.decoded(from: Array(#"{"name":"Anna"}"#.utf8), version: 2) == today)
        #expect(try Greeted.decoded(from: today.encoded(), version: 3) == today)
        for version in [Int16(0), 4] {
            #expect(throws: MessageError.unknownType("Greeted", version: version)) {
                try Greeted.decoded(from: today.encoded(), version: version)
            }
        }
    }
}
