import Foundation
import JWTKit
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import Synchronization

/// Sends pushes by the Apple Push Notification service, over HTTP/2, with a token signed by a key (Apple: "Establishing a token-based
/// connection to APNs", "Sending notification requests to APNs", "Handling notification responses from APNs").
package struct APNsSender: PushSender {
    /// Where and as whom to send.
    package struct Configuration: Sendable {
        /// Without a path: `https://api.push.apple.com`.
        package var url: String
        /// A file with the private key, as Apple gives it out (.p8).
        package var keyFile: String
        /// The key's id.
        package var keyID: String
        /// The team's id.
        package var team: String
        /// The app's bundle id.
        package var topic: String
        /// Whether the app may use critical alerts, which sound though the phone is muted.
        package var hasCriticalAlerts: Bool

        package init(
            url: String, keyFile: String, keyID: String, team: String, topic: String, hasCriticalAlerts: Bool
        ) {
            (self.url, self.keyFile, self.keyID) = (url, keyFile, keyID)
            (self.team, self.topic, self.hasCriticalAlerts) = (team, topic, hasCriticalAlerts)
        }
    }

    private let configuration: Configuration
    private let client: PushClient
    private let token: SenderToken

    /// Apple refuses tokens that are older than an hour, and whoever makes another one within twenty minutes.
    private static let tokenLifetime: Duration = .seconds(40 * 60)
    private static let leastTokenAge: Duration = .seconds(20 * 60)
    /// What Apple allows.
    private static let payloadLimit = 4096

    /// - Throws: if the key can't be read.
    package init(_ configuration: Configuration, client: PushClient) throws {
        let path = configuration.keyFile
        _ = try ES256PrivateKey(pem: String(contentsOfFile: path, encoding: .utf8))
        self.configuration = configuration
        self.client = client
        let material = { @Sendable in try String(contentsOfFile: path, encoding: .utf8) }
        token = SenderToken(leastAge: Self.leastTokenAge, material: material) {
            let pem = try material()
            let keys = JWTKeyCollection()
            let id = JWKIdentifier(string: configuration.keyID)
            await keys.add(ecdsa: try ES256PrivateKey(pem: pem), kid: id)
            let claims = Claims(iss: configuration.team, iat: Int64(Date().timeIntervalSince1970))
            return .init(
                text: try await keys.sign(claims, kid: id), material: pem, lifetime: Self.tokenLifetime)
        }
    }

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    package func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        // The token becomes part of a path.
        guard push.token.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }), push.token.count <= 512 else {
            throw .unavailable("the device's token is none of APNs: does another service push to this app?")
        }
        let payload = try Self.payload(of: push, hasCriticalAlerts: configuration.hasCriticalAlerts)
        let token: String
        do { token = try await self.token.value().text } catch {
            throw .unavailable("the key of APNs can't be used: \(error)")
        }
        let answer: PushClient.Answer
        do {
            answer = try await client.post(
                "\(configuration.url)/3/device/\(push.token)", headers(of: push, token), payload, idHeader: "apns-id")
        } catch {
            throw .unavailable(error.description)
        }
        if answer.status == 200 {
            return .taken("APNs took it\(answer.id.map { " as \($0)" } ?? "")")
        }
        let problem = (try? JSONDecoder().decode(Problem.self, from: Data(answer.body))) ?? Problem()
        if answer.status == 403 { await self.token.discard(token) }
        throw Self.failure(answer, problem)
    }

    /// Asks Apple to push nothing to a device that doesn't exist: the signature is looked at before the device.
    package func check() async -> SenderCheck {
        let token: String
        do { token = try await self.token.value().text } catch { return .refused("the key can't be used: \(error)") }
        let headers = [
            ("authorization", "bearer \(token)"), ("apns-topic", configuration.topic), ("apns-push-type", "background"),
            ("apns-priority", "5"), ("apns-expiration", "0"),
        ]
        let answer: PushClient.Answer
        do {
            answer = try await client.post(
                "\(configuration.url)/3/device/\(Self.nobody)", headers,
                Array(#"{"aps":{"content-available":1}}"#.utf8))
        } catch {
            return .unanswered(configuration.url, error)
        }
        let reason = (try? JSONDecoder().decode(Problem.self, from: Data(answer.body)))?.reason
        let text = "APNs answered \(answer.status)\(reason.map { " \($0)" } ?? "")"
        switch (answer.status, reason) {
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, "Unregistered"), (410, "ExpiredToken"):
            return .accepted(
                "\(text) for a device that doesn't exist, as was meant: it accepts the key. Whether the app's devices are of this PUSH_APNS_URL and PUSH_APNS_TOPIC: \(SenderCheck.onlyPush)"
            )
        case (400, "TopicDisallowed"), (400, "BadTopic"), (400, "MissingTopic"):
            return .refused("\(text): PUSH_APNS_TOPIC is no app of this key's team")
        case (403, _?):
            return .refused(
                "\(text): PUSH_APNS_KEY_ID and PUSH_APNS_TEAM must belong to the key in PUSH_APNS_KEY_FILE, which must be valid at PUSH_APNS_URL, and this machine's clock must be right"
            )
        default: return .unexpected(answer, text, configuration.url, "PUSH_APNS_URL")
        }
    }

    /// The token of no device.
    private static let nobody = String(repeating: "0", count: 64)

    private struct Problem: Decodable {
        var reason: String?
        /// In milliseconds since 1970.
        var timestamp: Int64?
    }

    /// What follows from an answer. What only settings or Apple can mend is tried again: a wrong environment or a withdrawn key ends
    /// no device and no alarm.
    private static func failure(_ answer: PushClient.Answer, _ problem: Problem) -> PushFailure {
        let text = "APNs answered \(answer.status)\(problem.reason.map { " \($0)" } ?? "")"
        switch (answer.status, problem.reason) {
        case (410, "Unregistered"), (410, "ExpiredToken"):
            return .gone(since: problem.timestamp.map { Instant(microseconds: $0 &* 1000) })
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"):
            // It may be the device's fault or that of the environment or the topic, so it ends nothing but after a day.
            return .unavailable("\(text); if all devices get this, PUSH_APNS_URL or PUSH_APNS_TOPIC is another app's")
        case (400, "BadTopic"), (400, "MissingTopic"), (400, "TopicDisallowed"), (400, "IdleTimeout"):
            return .unavailable(text)
        case (400, _?): return .refused(text)
        case (413, "PayloadTooLarge"): return .unfit(text)
        default: return .unavailable(text, retryAfter: answer.retryAfter)
        }
    }

    private func headers(of push: Push, _ token: String) -> [(String, String)] {
        let notification = push.notification
        // At zero, it is kept for no device that is off.
        let expiry = push.expires.map { $0.microseconds / 1_000_000 } ?? 0
        var headers = [
            ("authorization", "bearer \(token)"), ("apns-topic", configuration.topic), ("apns-push-type", "alert"),
            ("apns-id", "\(push.id)"), ("apns-expiration", "\(expiry)"),
            ("apns-priority", notification.priority == .low ? "5" : "10"),
        ]
        // The end of an alarm takes its beginning's place.
        if let name = notification.alarmName { headers.append(("apns-collapse-id", name)) }
        return headers
    }

    /// - Parameter hasCriticalAlerts: As in the configuration.
    static func payload(of push: Push, hasCriticalAlerts: Bool) throws(PushFailure) -> [UInt8] {
        let text = PushText(push)
        let isCritical = push.notification.priority == .critical
        let sound: Sound =
            isCritical && hasCriticalAlerts
            ? .critical(.init(critical: 1, name: "default", volume: 1)) : .named("default")
        let aps = Payload.Content(
            alert: .init(title: text.title, body: text.body), badge: push.unread,
            sound: push.notification.priority == .low ? nil : sound, mutableContent: 1,
            interruptionLevel: isCritical
                ? (hasCriticalAlerts ? "critical" : "time-sensitive")
                : push.notification.priority == .low ? "passive" : "active",
            category: push.notification.category.rawValue,
            threadID: push.notification.alarmName)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func encoded(_ notification: PushedNotification?) throws(PushFailure) -> [UInt8] {
            let payload = Payload(
                aps: aps,
                quartet: .init(
                    account: push.account, push: push.id, unread: push.unread, isTest: push.isTest,
                    notification: notification))
            do { return Array(try encoder.encode(payload)) } catch { throw .unfit("\(error)") }
        }
        // A test has none that an app could show or count.
        if push.isTest == true { return try encoded(nil) }
        let whole = try encoded(push.notification)
        // The app fetches what has no room.
        return whole.count <= payloadLimit ? whole : try encoded(nil)
    }

    private enum Sound: Encodable {
        case named(String)
        case critical(Critical)

        struct Critical: Encodable {
            let critical: Int
            let name: String
            let volume: Int
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .named(let name): try container.encode(name)
            case .critical(let sound): try container.encode(sound)
            }
        }
    }

    private struct Payload: Encodable {
        let aps: Content
        let quartet: Message

        /// What `QuartetPush` of the package for apps reads.
        struct Message: Encodable {
            let account: AccountID
            let push: PushID
            let unread: Int?
            let isTest: Bool?
            let notification: PushedNotification?
        }

        struct Content: Encodable {
            let alert: Alert
            /// Nil leaves the badge as it is.
            let badge: Int?
            let sound: Sound?
            let mutableContent: Int
            let interruptionLevel: String
            let category: String
            let threadID: String?

            enum CodingKeys: String, CodingKey {
                case alert, badge, sound, category
                case mutableContent = "mutable-content"
                case interruptionLevel = "interruption-level"
                case threadID = "thread-id"
            }
        }

        struct Alert: Encodable {
            let title: String
            let body: String
        }
    }
}
