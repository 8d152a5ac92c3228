import Crypto
import Foundation
import JWTKit
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import Synchronization

/// Sends pushes to browsers, by whichever push service each has chosen (RFC 8030), encrypted for the browser alone (RFC 8291), and signed
/// with a key by which the service knows the sender (VAPID, RFC 8292).
package struct WebPushSender: PushSender {
    private let subject: String
    private let keyFile: String
    private let client: StrangersClient
    /// Gets what is no subscription.
    private let others: any PushSender
    private let tokens = Tokens()

    /// The public key, in base64url: what pages subscribe with.
    package let publicKey: String

    /// A signature is good for a day at most (RFC 8292, section 2), and some services' clocks are wrong.
    private static let signatureLifetime: Int64 = 12 * 3600
    private static let tokenLifetime: Duration = .seconds(6 * 3600)
    private static let leastTokenAge: Duration = .seconds(60)
    /// How long a push service wants to be left alone if it doesn't say.
    private static let rest: Duration = .seconds(60)

    /// - Parameters:
    ///   - keyFile: A file with a private key of P-256 in PEM.
    ///   - subject: How to reach whoever runs this: a mailto: or https: URI.
    ///   - others: Gets what is no subscription, but another service's token for browsers.
    /// - Throws: if the key can't be read.
    package init(
        keyFile: String, subject: String, client: StrangersClient, others: any PushSender
    ) throws {
        let pem = try String(contentsOfFile: keyFile, encoding: .utf8)
        publicKey = try Self.publicKey(pem: pem)
        (self.keyFile, self.subject, self.client, self.others) = (keyFile, subject, client, others)
    }

    private static func publicKey(pem: String) throws -> String {
        let key = try P256.Signing.PrivateKey(pemRepresentation: pem.trimmingCharacters(in: .whitespacesAndNewlines))
        return Array(key.publicKey.x963Representation).base64URL
    }

    private struct Claims: JWTPayload {
        /// The push service's origin.
        let aud: String
        let exp: Int64
        let sub: String
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// A token for each push service.
    private final class Tokens: Sendable {
        private let all = Mutex<[String: SenderToken]>([:])
        private static let limit = 64

        func token(_ origin: String, make: () -> SenderToken) -> SenderToken {
            all.withLock { all in
                if let token = all[origin] { return token }
                if all.count >= Self.limit { all = [:] }
                let token = make()
                all[origin] = token
                return token
            }
        }
    }

    private func token(for origin: String) -> SenderToken {
        tokens.token(origin) { [keyFile, subject] in
            let material = { @Sendable in
                try String(contentsOfFile: keyFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            return SenderToken(leastAge: Self.leastTokenAge, material: material) {
                let pem = try material()
                let keys = JWTKeyCollection()
                await keys.add(ecdsa: try ES256PrivateKey(pem: pem))
                let exp = Int64(Date().timeIntervalSince1970) + Self.signatureLifetime
                let text = try await keys.sign(Claims(aud: origin, exp: exp, sub: subject))
                return .init(
                    text: text, owner: try Self.publicKey(pem: pem), material: pem, lifetime: Self.tokenLifetime)
            }
        }
    }

    package func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        guard WebSubscription.isMeant(by: push.token) else { return try await others.send(push) }
        let subscription: WebSubscription
        do { subscription = try WebSubscription(push.token) } catch {
            throw .unavailable("the device's token is no browser's subscription that can be used")
        }
        let port = subscription.port == 443 ? "" : ":\(subscription.port)"
        let origin = "https://\(subscription.host)\(port)"
        let signer = token(for: origin)
        let token: SenderToken.Value
        do { token = try await signer.value() } catch {
            throw .unavailable("the key of Web Push can't be used: \(error)")
        }
        let body = try body(of: push, to: subscription)
        let answer: PushClient.Answer
        do throws(StrangersClient.Failure) {
            answer = try await client.post(
                subscription.endpoint, name: subscription.host, port: subscription.port, headers(of: push, token), body)
        } catch {
            switch error {
            // A name may lead astray for a while.
            case .forbidden(let reason): throw .refused("the browser's push service isn't asked: \(reason)")
            case .unavailable(let reason): throw .unavailable(reason)
            }
        }
        if [200, 201, 202, 204].contains(answer.status) { return .taken("\(subscription.host) took it") }
        if answer.status == 401 || answer.status == 403 { await signer.discard(token.text) }
        throw Self.failure(answer, subscription.host)
    }

    /// Signs as for a push service. Only these look at a signature, and only with a browser's subscription.
    package func check() async -> SenderCheck {
        do {
            let key = try await token(for: "https://push.invalid").value().owner
            return .unknown(
                "the key signs; session-client needs \(key) as PUSH_WEB_PUBLIC_KEY. Whether browsers' push services accept it: \(SenderCheck.onlyPush)"
            )
        } catch {
            return .refused("the key in PUSH_WEB_KEY_FILE can't be used: \(error)")
        }
    }

    /// What follows from an answer. What only settings or the push service can mend is tried again.
    private static func failure(_ answer: PushClient.Answer, _ host: String) -> PushFailure {
        let text = "\(host) answered \(answer.status)"
        switch answer.status {
        case 404, 410: return .gone()
        case 413: return .unfit(text)
        case 429: return .unavailable(text, retryAfter: answer.retryAfter ?? rest)
        case 400, 401, 403:
            // It may be that one browser subscribed with a former key, so it ends nothing but after a day.
            return .unavailable(
                "\(text); if all browsers get this, PUSH_WEB_KEY_FILE isn't the key that PUSH_WEB_PUBLIC_KEY belongs to, or PUSH_WEB_SUBJECT isn't accepted"
            )
        case 300..<400: return .unavailable("\(text), and nobody is followed elsewhere")
        default: return .unavailable(text, retryAfter: answer.retryAfter)
        }
    }

    private func headers(of push: Push, _ token: SenderToken.Value) -> [(String, String)] {
        let notification = push.notification
        let urgency =
            switch notification.priority {
            case .critical: "high"
            case .normal: "normal"
            case .low: "low"
            }
        var headers = [
            ("authorization", "vapid t=\(token.text), k=\(token.owner)"), ("content-encoding", "aes128gcm"),
            ("content-type", "application/octet-stream"), ("ttl", "\(push.secondsToKeep)"),
            ("urgency", urgency),
        ]
        // What waits for the browser about the same alarm gives way. Accounts may share a browser, and push services needn't know alarms.
        if let alarm = notification.alarmName {
            let name = SHA256.hash(data: Data("\(push.account) \(alarm)".utf8))
            headers.append(("topic", Array(name.prefix(24)).base64URL))
        }
        return headers
    }

    /// What the service worker shows, without asking anybody.
    private struct Message: Encodable {
        let push: PushID
        let account: AccountID
        let title: String
        let body: String
        let notification: NotificationID
        let kind: NotificationKind
        let category: NotificationCategory
        let priority: NotificationPriority
        let alarm: AlarmID?
        /// What has the same tag takes the other's place in the browser.
        let tag: String
        let subject: AccountID?
        let group: GroupID?
        let created: Instant
        let unread: Int?
        let isTest: Bool?
    }

    private func body(of push: Push, to subscription: WebSubscription) throws(PushFailure) -> [UInt8] {
        let document = try Self.document(push)
        do {
            return try WebPushEncryption.body(
                document, padding: WebPushEncryption.padding(of: document), to: subscription)
        } catch {
            throw .unfit("\(error)")
        }
    }

    /// What the browser decrypts.
    static func document(_ push: Push) throws(PushFailure) -> [UInt8] {
        let notification = push.notification
        let text = PushText(push)
        let message = Message(
            push: push.id, account: push.account, title: text.title, body: text.body, notification: notification.id,
            kind: notification.kind, category: notification.category, priority: notification.priority,
            alarm: notification.kind.isOfAlarm ? notification.details.alarm : nil,
            tag: notification.alarmName ?? "\(notification.id)", subject: notification.subject,
            group: notification.details.group, created: notification.created, unread: push.unread,
            isTest: push.isTest)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(message)) } catch { throw .unfit("\(error)") }
    }
}

extension [UInt8] {
    /// RFC 4648, section 5, without padding.
    fileprivate var base64URL: String {
        Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
