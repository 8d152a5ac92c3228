import Foundation
import JWTKit
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary

/// Sends pushes by Firebase Cloud Messaging's HTTP v1 API (Firebase: "projects.messages", "ErrorCode"), with an access token that a
/// service account gets by RFC 7523.
package struct FCMSender: PushSender {
    /// The parts of a service account's file that are needed.
    private struct ServiceAccount: Decodable {
        let projectID: String
        let email: String
        let privateKey: String
        let privateKeyID: String?
        let tokenURL: String

        enum CodingKeys: String, CodingKey {
            case projectID = "project_id"
            case email = "client_email"
            case privateKey = "private_key"
            case privateKeyID = "private_key_id"
            case tokenURL = "token_uri"
        }

        init(json: String) throws {
            self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
            _ = try Insecure.RSA.PrivateKey(pem: privateKey)
        }
    }

    private let url: String
    private let client: PushClient
    private let token: SenderToken

    /// An access token is good for an hour.
    private static let margin: Duration = .seconds(5 * 60)
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// How long Firebase wants to be left alone if it doesn't say.
    private static let rest: Duration = .seconds(60)

    /// - Parameters:
    ///   - url: Without a path: `https://fcm.googleapis.com`.
    ///   - accountFile: A service account's key in JSON, as Google gives it out.
    /// - Throws: if the file can't be read.
    package init(url: String, accountFile: String, client: PushClient) throws {
        _ = try ServiceAccount(json: String(contentsOfFile: accountFile, encoding: .utf8))
        (self.url, self.client) = (url, client)
        let material = { @Sendable in try String(contentsOfFile: accountFile, encoding: .utf8) }
        token = SenderToken(leastAge: .seconds(1), material: material) {
            let json = try material()
            let account = try ServiceAccount(json: json)
            return try await Self.accessToken(of: account, json, client)
        }
    }

    private struct Claims: JWTPayload {
        let iss: String
        let scope: String
        let aud: String
        let iat: Int64
        let exp: Int64
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private struct Grant: Decodable {
        let token: String
        let seconds: Int64

        enum CodingKeys: String, CodingKey {
            case token = "access_token"
            case seconds = "expires_in"
        }
    }

    private static func accessToken(
        of account: ServiceAccount, _ material: String, _ client: PushClient
    ) async throws -> SenderToken.Value {
        let keys = JWTKeyCollection()
        let id = account.privateKeyID.map { JWKIdentifier(string: $0) }
        await keys.add(
            rsa: try Insecure.RSA.PrivateKey(pem: account.privateKey), digestAlgorithm: .sha256, kid: id)
        let now = Int64(Date().timeIntervalSince1970)
        let claims = Claims(
            iss: account.email, scope: Self.scope, aud: account.tokenURL, iat: now, exp: now + 3600)
        let assertion = try await keys.sign(claims, kid: id)
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let answer = try await client.post(
            account.tokenURL, [("content-type", "application/x-www-form-urlencoded")], Array(form.utf8))
        guard answer.status == 200, let grant = try? JSONDecoder().decode(Grant.self, from: Data(answer.body)) else {
            throw PushClient.Failure(
                description: "\(account.tokenURL) answered \(answer.status) to the service account",
                mayPass: answer.isOutOfOrder)
        }
        let lifetime = Duration.seconds(min(max(grant.seconds, 0), 3600)) - margin
        return .init(
            text: grant.token, owner: account.projectID, material: material, lifetime: max(lifetime, .seconds(10)))
    }

    package func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        let token: SenderToken.Value
        do { token = try await self.token.value() } catch {
            throw .unavailable("the service account of FCM can't be used: \(error)")
        }
        let answer: PushClient.Answer
        do {
            answer = try await client.post(
                "\(url)/v1/projects/\(token.owner)/messages:send",
                [("authorization", "Bearer \(token.text)"), ("content-type", "application/json")],
                try Self.message(of: push)
            )
        } catch let failure as PushFailure {
            throw failure
        } catch {
            throw .unavailable("\(error)")
        }
        if answer.status == 200 {
            return .taken("FCM took it")
        }
        let problem = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)).error
        if answer.status == 401 || answer.status == 403 { await self.token.discard(token.text) }
        throw Self.failure(answer, problem)
    }

    /// Gets an access token, and has a message to nobody looked at that isn't sent (`validate_only`).
    package func check() async -> SenderCheck {
        let token: SenderToken.Value
        do { token = try await self.token.value() } catch {
            if let failure = error as? PushClient.Failure, failure.mayPass {
                return .unknown("the service account gets no access token: \(failure); ask again later")
            }
            return .refused(
                "the service account gets no access token: \(error); unless Google can't be reached, the key in PUSH_FCM_ACCOUNT_FILE may be deleted, or this machine's clock wrong"
            )
        }
        let answer: PushClient.Answer
        do {
            answer = try await client.post(
                "\(url)/v1/projects/\(token.owner)/messages:send",
                [("authorization", "Bearer \(token.text)"), ("content-type", "application/json")],
                Array(#"{"message":{"data":{"check":"true"},"topic":"quartet-doctor"},"validate_only":true}"#.utf8))
        } catch {
            return .unanswered(url, error)
        }
        let problem = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)).error
        let text = "FCM answered \(answer.status)\(problem?.code.map { " \($0)" } ?? "")"
        let name = (try? JSONDecoder().decode(Accepted.self, from: Data(answer.body)))?.name
        switch (answer.status, problem) {
        case (200, _) where name?.hasPrefix("projects/\(token.owner)/messages/") == true:
            return .accepted(
                "the service account gets an access token, and FCM would take a message of project \(token.owner) (none was sent). Whether the app's devices are this project's: \(SenderCheck.onlyPush)"
            )
        case (401, _?), (403, _?), (404, _?):
            return .refused(
                "\(text): the service account in PUSH_FCM_ACCOUNT_FILE may not send for project \(token.owner); give it the role Firebase Cloud Messaging API Admin, and turn that API on"
            )
        default: return .unexpected(answer, text, url, "PUSH_FCM_URL")
        }
    }

    private struct Accepted: Decodable {
        /// `projects/…/messages/…`
        let name: String
    }

    private struct Answer: Decodable {
        let error: Problem
    }

    private struct Problem: Decodable {
        struct Detail: Decodable {
            struct Violation: Decodable {
                let field: String?
            }

            let errorCode: String?
            let fieldViolations: [Violation]?
        }

        let status: String?
        let message: String?
        let details: [Detail]?

        var code: String? { details?.lazy.compactMap(\.errorCode).first ?? status }
        /// Whether it is the device's token that can't be used.
        var isAboutToken: Bool {
            let fields = details?.flatMap { $0.fieldViolations ?? [] }.compactMap(\.field) ?? []
            return fields.contains("message.token") || message?.contains("registration token") == true
        }
    }

    /// What follows from an answer. What only settings or Google can mend is tried again.
    private static func failure(_ answer: PushClient.Answer, _ problem: Problem?) -> PushFailure {
        let text = "FCM answered \(answer.status)\(problem?.code.map { " \($0)" } ?? "")"
        switch (answer.status, problem?.code) {
        case (404, "UNREGISTERED"): return .gone()
        case (400, "INVALID_ARGUMENT") where problem?.isAboutToken == true:
            return .unavailable("\(text): the device's token is none of FCM; does another service push to this app?")
        case (400, "INVALID_ARGUMENT") where problem?.message?.contains("too big") == true: return .unfit(text)
        case (400, "INVALID_ARGUMENT"): return .refused(text)
        case (403, "SENDER_ID_MISMATCH"):
            // It may be the device's fault or that of the service account, so it ends nothing but after a day.
            return .unavailable("\(text); if all devices get this, the service account is another app's")
        case (429, _), (503, _):
            return .unavailable(text, retryAfter: answer.retryAfter ?? (answer.status == 429 ? rest : nil))
        default: return .unavailable(text, retryAfter: answer.retryAfter)
        }
    }

    private struct Message: Encodable {
        struct Content: Encodable {
            let token: String
            let notification: Text
            let data: [String: String]
            let android: Android
        }

        struct Text: Encodable {
            let title: String
            let body: String
        }

        struct Android: Encodable {
            let priority: String
            let ttl: String
            let notification: Look
        }

        struct Look: Encodable {
            /// What has the same tag takes the other's place on the device.
            let tag: String
            let channelID: String
            let priority: String

            enum CodingKeys: String, CodingKey {
                case tag
                case channelID = "channel_id"
                case priority = "notification_priority"
            }
        }

        let message: Content
    }

    /// What is in `data` is read by `QuartetPush` of the package for apps.
    static func message(of push: Push) throws(PushFailure) -> [UInt8] {
        let notification = push.notification
        let text = PushText(push)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func encoded(whole: Bool) throws -> [UInt8] {
            var data = ["account": "\(push.account)", "push": "\(push.id)"]
            if let unread = push.unread { data["unread"] = "\(unread)" }
            if push.isTest == true { data["isTest"] = "true" } else { data["kind"] = notification.kind.rawValue }
            if whole { data["notification"] = String(decoding: try encoder.encode(notification), as: UTF8.self) }
            let content = Message.Content(
                token: push.token, notification: .init(title: text.title, body: text.body), data: data,
                android: .init(
                    priority: notification.priority == .low ? "NORMAL" : "HIGH", ttl: "\(push.secondsToKeep)s",
                    notification: .init(
                        tag: notification.alarmName ?? "\(notification.id)", channelID: notification.category.rawValue,
                        priority: notification.priority == .critical ? "PRIORITY_MAX" : "PRIORITY_DEFAULT")))
            return Array(try encoder.encode(Message(message: content)))
        }
        do {
            // A test has no notification that an app could show or count.
            if push.isTest == true { return try encoded(whole: false) }
            let message = try encoded(whole: true)
            // FCM takes 4096 bytes of data, the token not included. The app fetches what has no room.
            return message.count - push.token.utf8.count <= 4096 ? message : try encoded(whole: false)
        } catch {
            throw .unfit("\(error)")
        }
    }
}
