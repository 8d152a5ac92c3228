import Foundation
import QuartetClient
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary
import Testing

@testable import NotificationsService
@testable import QuartetNotificationsRules

/// What the senders really send, read by the package for apps.
@Suite("Notifications: what apps read of pushes")
struct PushPayloadTests {
    private static let account = AccountID.new()

    private static func push(
        _ notification: QuartetNotification, on platform: PushPlatform, isTest: Bool = false
    ) throws -> Push {
        let device = PushDeviceID.new()
        var body = PushBody(notification, to: device, unread: 3)
        if isTest {
            // As the operators' function adds it, and as it would be if it counted.
            let encoded = try JSONEncoder().encode(body)
            var members = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
            members["isTest"] = true
            body = try JSONDecoder().decode(PushBody.self, from: JSONSerialization.data(withJSONObject: members))
        }
        return Push(body, to: account, device: device, token: "a-token", platform: platform)
    }

    private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    /// What a device gets of a push, by each way.
    private struct Ways {
        let apns: [UInt8]
        let fcm: [UInt8]
        let web: [UInt8]
        let webhook: [UInt8]

        init(_ notification: QuartetNotification, isTest: Bool = false) throws {
            func push(_ platform: PushPlatform) throws -> Push {
                try PushPayloadTests.push(notification, on: platform, isTest: isTest)
            }
            apns = try APNsSender.payload(of: push(.ios), hasCriticalAlerts: true)
            fcm = try FCMSender.message(of: push(.android))
            web = try WebPushSender.document(push(.web))
            webhook = try WebhookPushSender.document(push(.other))
        }

        var data: [String: String] {
            get throws {
                let message = try #require(try object(fcm)["message"] as? [String: Any])
                return try #require(message["data"] as? [String: String])
            }
        }

        /// As an app reads them: APNs, FCM, a browser's, the webhook's.
        var read: [QuartetPush] {
            get throws {
                [
                    try QuartetPush(userInfo: object(apns)), try QuartetPush(data: data),
                    try QuartetPush(json: Data(web)), try QuartetPush(json: Data(webhook)),
                ]
            }
        }
    }

    private static let alarm = QuartetNotification(
        id: .new(), kind: .dependentAlertRaised, subject: .new(),
        details: .init(at: Instant(microseconds: 1_800_000_000_000_000), alarm: .new()),
        created: Instant(microseconds: 1_800_000_000_000_001))

    @Test("an alarm's push is read as its notification, by Apple, Google and a webhook; a browser's as news (A14, P29)")
    func alarm() throws {
        let ways = try Ways(Self.alarm)
        let read = try ways.read
        for index in [0, 1, 3] {
            guard case .notification(let message) = read[index] else {
                Issue.record("\(read[index])")
                continue
            }
            #expect(message.account == Self.account && message.notification == Self.alarm && message.unread == 3)
        }
        #expect(read[2] == .news(Self.account))
        // What apps made for 0.1.0 call.
        #expect(try QuartetPush.notification(PushMessage(userInfo: Self.object(ways.apns))) == read[0])
        #expect(try QuartetPush.notification(PushMessage(json: Data(ways.webhook))) == read[3])
    }

    @Test(
        """
        a test push is read as one by each way, says nothing of a badge or of what is unread, carries nothing that could be taken for a \
        message, and is kept for no device that is off (A14)
        """)
    func test() throws {
        let ways = try Ways(Self.alarm, isTest: true)
        #expect(try ways.read == Array(repeating: .test(Self.account), count: 4))
        let aps = try #require(try Self.object(ways.apns)["aps"] as? [String: Any])
        #expect(aps["alert"] != nil && aps["badge"] == nil)
        for bytes in [ways.apns, ways.fcm, ways.web, ways.webhook] {
            #expect(!String(decoding: bytes, as: UTF8.self).contains("unread"))
        }
        #expect(try ways.data["notification"] == nil && Self.object(ways.webhook)["notification"] == nil)
        // Apps made for 0.1.0 find nothing to show or count.
        #expect(throws: QuartetError.self) { try PushMessage(userInfo: Self.object(ways.apns)) }
        #expect(throws: QuartetError.self) { try PushMessage(json: Data(ways.webhook)) }
        let message = try #require(try Self.object(ways.fcm)["message"] as? [String: Any])
        #expect((message["android"] as? [String: Any])?["ttl"] as? String == "0s")
        let push = try Self.push(Self.alarm, on: .ios, isTest: true)
        #expect(push.expires == nil && push.secondsToKeep == 0)
        #expect(try Self.push(Self.alarm, on: .ios).expires == Self.alarm.created + .days(1))
    }

    @Test("a push whose notification has no room keeps its alert and tells the app that there is news (A14)")
    func large() throws {
        var notification = Self.alarm
        notification.details.text = String(repeating: "x", count: 5000)
        let ways = try Ways(notification)
        #expect(ways.apns.count <= 4096 && ways.fcm.count <= 4096)
        let read = try ways.read
        #expect(read[0] == .news(Self.account) && read[1] == .news(Self.account) && read[2] == .news(Self.account))
        #expect((try Self.object(ways.apns)["aps"] as? [String: Any])?["badge"] as? Int == 3)
        // A webhook has no limit of ours.
        guard case .notification(let message) = read[3] else {
            Issue.record("\(read[3])")
            return
        }
        #expect(message.notification == notification)
    }

    @Test("what is no push of Quartet's can't be read, and says so (P29)")
    func unreadable() {
        #expect(throws: QuartetError.self) { try QuartetPush(userInfo: ["aps": ["badge": 1]]) }
        #expect(throws: QuartetError.self) { try QuartetPush(json: Data(#"{"isTest": true}"#.utf8)) }
        #expect(throws: QuartetError.self) { try QuartetPush(data: ["unread": "1"]) }
        let broken = ["account": "\(Self.account)", "unread": "1", "notification": "{"]
        #expect(throws: QuartetError.self) { try QuartetPush(data: broken) }
    }
}
