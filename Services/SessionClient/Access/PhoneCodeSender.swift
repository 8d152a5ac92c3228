import Foundation
import Logging
import QuartetSessionContract
import QuartetVocabulary
import Webhook

/// Brings a code to a phone.
protocol PhoneCodeSender: Sendable {
    /// - Parameters:
    ///   - code: The six digits.
    ///   - id: By which a receiver can tell that it was sent before.
    /// - Throws: ``PhoneCodeNotSent``.
    func send(_ code: String, to phone: PhoneNumber, id: PhoneCodeID) async throws(PhoneCodeNotSent)
}

/// A code did not get on its way.
struct PhoneCodeNotSent: Error, CustomStringConvertible {
    let description: String
}

/// For development: writes the code to the log.
struct LoggedPhoneCodes: PhoneCodeSender {
    let logger: Logger

    func send(_ code: String, to phone: PhoneNumber, id: PhoneCodeID) async throws(PhoneCodeNotSent) {
        logger.notice(
            "a code for a phone, logged because PHONE_CODES=log", metadata: ["phone": "\(phone)", "code": "\(code)"])
    }
}

/// Has another system send it, as a text message for example: gets `{"id", "phone", "code"}`.
struct WebhookPhoneCodes: PhoneCodeSender {
    let webhook: Webhook

    private struct Document: Encodable {
        let id: PhoneCodeID
        let phone: String
        let code: String
    }

    func send(_ code: String, to phone: PhoneNumber, id: PhoneCodeID) async throws(PhoneCodeNotSent) {
        let body: [UInt8]
        do {
            body = Array(try JSONEncoder().encode(Document(id: id, phone: phone.description, code: code)))
        } catch { throw PhoneCodeNotSent(description: "\(error)") }
        // A person waits: three tries, then they are told and ask again.
        var last = ""
        for attempt in 0..<3 {
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(250 << attempt)) }
            switch await webhook.post(body, id: "\(id)") {
            case .taken: return
            case .gone: throw PhoneCodeNotSent(description: "the receiver is gone (410)")
            case .refused(let reason): throw PhoneCodeNotSent(description: reason)
            case .unavailable(let reason): last = reason
            }
        }
        throw PhoneCodeNotSent(description: last)
    }
}

/// How phone codes are sent, as configured.
enum PhoneCodeDelivery: Hashable, Sendable {
    /// They aren't: there is no sign-in by phone.
    case off
    /// Shown in the log.
    case log
    /// Given to a system at this URL.
    case webhook(WebhookAddress)
}
