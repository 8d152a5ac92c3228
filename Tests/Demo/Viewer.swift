import EdgeClient
import Synchronization

/// Somebody in front of the app: sees the stream, live.
final class Viewer: Sendable {
    let name: String
    private let narrator: Narrator
    private let seen = Mutex<Set<String>>([])

    init(name: String, narrator: Narrator) {
        self.name = name
        self.narrator = narrator
    }

    /// Reads until the stream ends.
    func watch(_ stream: ServerSentEvents) async throws {
        for try await event in stream {
            if let text = describe(event) { narrator.sees(name, text) }
            seen.withLock { _ = $0.insert(mark(of: event)) }
        }
    }

    /// Waits until these have been seen since the last call.
    /// - Throws: ``Missed``.
    func expect(_ marks: String...) async throws {
        for _ in 0..<1000 {
            if seen.withLock({ $0.isSuperset(of: marks) }) { return seen.withLock { $0.subtract(marks) } }
            try await Task.sleep(for: .milliseconds(10))
        }
        let missing = seen.withLock { seen in marks.filter { !seen.contains($0) } }
        throw Missed(description: "\(name) did not see \(missing.joined(separator: ", ")) within ten seconds")
    }

    /// What should have been seen wasn't.
    struct Missed: Error, CustomStringConvertible {
        let description: String
    }

    /// What is waited for by.
    private func mark(of event: ServerSentEvent) -> String {
        let type = event.data["type"].string
        switch (event.name, type) {
        case ("notifications.event", "NotificationDelivered"):
            return "notification \(event.data["body"]["notification"]["kind"].string ?? "")"
        case (_, let type?): return type
        default: return event.name
        }
    }

    private func describe(_ event: ServerSentEvent) -> String? {
        let body = event.data["body"]
        switch (event.name, event.data["type"].string) {
        case ("person", _):
            let due = event.data["checkIn"]["due"].int == nil ? "" : ", checked in"
            return "\(event.data["name"].string ?? "someone")'s card: @\(event.data["handle"].string ?? "")\(due)"
        case ("end", _): return "the stream ends: \(event.data["reason"].string ?? "")"
        case ("contacts.event", "ContactAdded"):
            let contact = body["contact"]
            let roles = [("isMyResponder", "my responder"), ("iAmResponder", "my dependent")]
                .filter { contact[$0.0].isTrue }.map(\.1).joined(separator: " and ")
            return "contact: \(narrator.name(contact["account"])) is \(roles)"
        case ("contacts.event", "PingSent"): return "ping to \(narrator.name(body["contact"])) is on its way"
        case ("contacts.event", "PingReceived"):
            return "ping from \(narrator.name(body["contact"])): are you all right?"
        case ("contacts.event", "PingAnswered"): return "\(narrator.name(body["contact"])) answered the ping"
        case ("contacts.event", "ReceivedPingsCleared"):
            return "pings of \(body["contacts"].array.map(narrator.name).joined(separator: ", ")) are answered"
        case ("notifications.event", "NotificationDelivered"):
            let notification = body["notification"]
            if notification["kind"].string == "dependentCheckedInLate" {
                return "all-clear: \(narrator.name(notification["subject"])) checked in, \(unread(body))"
            }
            if notification["details"]["drill"].string != nil {
                return "notification: \(notification["details"]["text"].string ?? "")"
            }
            let about = notification["subject"].string == nil ? "" : " (\(narrator.name(notification["subject"])))"
            return "notification: \(notification["kind"].string ?? "")\(about), \(unread(body))"
        case ("notifications.event", "NotificationsCleared"):
            return "\(body["count"].int ?? 0) notification(s) cleared, \(unread(body))"
        case ("operations.event", "OperationEnded"):
            return "operation \(body["type"].string ?? ""): \(body["state"].string ?? "")"
        case ("contacts.event", "AlarmAcknowledged") where body["answer"].string != nil:
            return
                "\(narrator.name(body["responder"])) says: \(body["answer"].string == "onIt" ? "on it" : "reached, safe")"
        case ("account.event", "CheckedIn"): return "checked in"
        case ("account.event", "CheckInMissed"): return "a check-in was missed"
        default: return nil
        }
    }

    private func unread(_ body: JSON) -> String { "\(body["unread"].int ?? 0) unread" }
}
