import Crypto
import Foundation
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import TestKit
import Testing

@testable import NotificationsService

@Suite("Notifications: Web Push")
struct WebPushTests {
    private static func bytes(_ base64URL: String) throws -> [UInt8] {
        let digits = base64URL.replacing("-", with: "+").replacing("_", with: "/")
        let padded = digits + String(repeating: "=", count: (4 - digits.count % 4) % 4)
        return Array(try #require(Data(base64Encoded: padded)))
    }

    private static let browserKey =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let browserSecret = "BTBZMqHH6r4Tts7J_aSIgg"

    private static func token(
        endpoint: String = "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", key: String = browserKey,
        secret: String = browserSecret
    ) -> String {
        #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(key)","auth":"\#(secret)"}}"#
    }

    // MARK: Encryption

    @Test("a message is encrypted as in the example of RFC 8291, byte for byte (A14)")
    func example() throws {
        let own = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let body = try WebPushEncryption.body(
            Array("When I grow up, I want to be a watermelon".utf8), padding: 0, to: WebSubscription(Self.token()),
            own: own, salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        let expected = """
            DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl\
            95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
            """
        #expect(body == (try Self.bytes(expected)))
    }

    @Test("messages are as long as others, up to what a push service takes (A14)")
    func padding() throws {
        let subscription = try WebSubscription(Self.token())
        var lengths: [Int] = []
        for count in [1, 400, 1024, 1025, 2048, 2049, WebPushEncryption.messageLimit] {
            let message = [UInt8](repeating: 65, count: count)
            lengths.append(
                try WebPushEncryption.body(
                    message, padding: WebPushEncryption.padding(of: message), to: subscription
                ).count)
        }
        #expect(Set(lengths).count == 3 && lengths[0] == lengths[2] && lengths[3] == lengths[4])
        #expect(lengths[5] == lengths[6] && lengths[6] == 4096)
    }

    @Test("each message has a key and a salt of its own (A14)")
    func fresh() throws {
        let subscription = try WebSubscription(Self.token())
        let bodies = try (0..<3).map { _ in
            try WebPushEncryption.body([1], padding: 0, to: subscription)
        }
        #expect(Set(bodies.map { Array($0[0..<16]) }).count == 3 && Set(bodies.map { Array($0[21..<86]) }).count == 3)
    }

    @Test("a browser's key that is no point of the curve is refused (A14)")
    func noPoint() throws {
        let key = Data([4] + [UInt8](repeating: 1, count: 64)).base64EncodedString()
        let subscription = try WebSubscription(Self.token(key: key))
        #expect(throws: (any Error).self) {
            try WebPushEncryption.body([1], padding: 0, to: subscription)
        }
    }

    // MARK: Subscriptions

    @Test("a subscription is read as a browser writes it, with members that nobody needs (S38)")
    func subscription() throws {
        let subscription = try WebSubscription(Self.token())
        #expect(subscription.host == "push.example.net" && subscription.port == 443)
        #expect(subscription.key == (try Self.bytes(Self.browserKey)) && subscription.secret.count == 16)
        let other = try WebSubscription(Self.token(endpoint: "https://push.example.net:8443/a?b=c"))
        #expect(other.host == "push.example.net" && other.port == 8443)
        try RegisterPush(device: .new(), token: Self.token(), platform: .web).validate()
    }

    @Test(
        "a subscription that can't be one is refused, with the field and the rule (S38)",
        arguments: [
            ("http://push.example.net/a", "https://"), ("HTTP://push.example.net/a", "https://"),
            ("ftp://push.example.net/a", "https://"),
            ("https:///a", "name its server"), ("https://Push.example.net/a", "lower case"),
            ("HTTPS://push.example.net/a", "lower case"), ("push.example.net", "https://"),
            ("https://user@push.example.net/a", "without a user"), ("https://u:p@push.example.net/a", "without a user"),
            ("https://push.example.net/a#b", "fragment"), ("https://127.0.0.1/a", "no address"),
            ("https://[::1]/a", "no address"), ("https://2130706433/a", "no address"),
            ("https://127.1/a", "no address"),
            ("https://0x7f000001/a", "no address"), ("https://a.0x7f/a", "no address"), ("https://a..b/", "no address"),
            ("https://-a.b/", "no address"), ("https://a_b.c/", "no address"),
            ("https://push.example.net./", "no address"),
            ("https://push.example.net/" + String(repeating: "x", count: 2048), "at most 2048"),
        ])
    func badEndpoint(endpoint: String, rule: String) throws {
        try Self.expectRefused(Self.token(endpoint: endpoint), rule)
    }

    @Test("a subscription's keys have the right lengths (S38)")
    func badKeys() throws {
        let point = try Self.bytes(Self.browserKey)
        func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
        for key in [text(Array(point.dropLast())), text(point + [0]), text([3] + point.dropFirst()), "", "??"] {
            try Self.expectRefused(Self.token(key: key), "65 bytes")
        }
        for secret in [text([UInt8](repeating: 1, count: 15)), text([UInt8](repeating: 1, count: 17)), "", "!"] {
            try Self.expectRefused(Self.token(secret: secret), "16 bytes")
        }
        try Self.expectRefused(#"{"endpoint":"https://push.example.net/a"}"#, "65 bytes")
        try Self.expectRefused("{}", "https://")
        try Self.expectRefused("{", "PushSubscription")
    }

    private static func expectRefused(_ token: String, _ rule: String) throws {
        do throws(Rejection) {
            try RegisterPush(device: .new(), token: token, platform: .web).validate()
            Issue.record("\(token) was taken")
        } catch {
            #expect(error.code == .invalidField && error.field == "token")
            #expect(error.message.contains(rule), "\(token): \(error.message)")
        }
    }

    @Test("what another push service issued for browsers is taken as before, for the webhook (S38)")
    func otherToken() throws {
        try RegisterPush(device: .new(), token: "fcm-token:APA91b", platform: .web).validate()
        try RegisterPush(device: .new(), token: "{", platform: .other).validate()
    }

    // MARK: Addresses

    @Test(
        "a browser's push service is asked at public addresses alone (A14)",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8",
            "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255",
            "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::10.0.0.1",
            "64:ff9b::127.0.0.1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2001:1ff:ffff::1",
            "2002:7f00:1::1",
            "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "5f00::1",
        ])
    func closedAddress(text: String) throws {
        #expect(!PublicAddress.isPublic(try Self.address(text)))
    }

    @Test(
        "addresses beside those that are closed are open (A14)",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "64:ff9b::8.8.8.8", "2001:200::1",
            "2001:4860:4860::8888", "2003::1", "2a00:1450::1", "2606:4700::1111",
        ])
    func openAddress(text: String) throws {
        #expect(PublicAddress.isPublic(try Self.address(text)))
    }

    @Test("what is no address isn't open (A14)")
    func noAddress() {
        #expect(!PublicAddress.isPublic([]) && !PublicAddress.isPublic([8, 8, 8]))
    }

    private static func address(_ text: String) throws -> [UInt8] {
        let isIPv6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        try #require(inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1)
        return bytes
    }

    @Test(
        "a name that leads to this machine, or a port that isn't a push service's, isn't asked (A14)",
        arguments: [("localhost", 443, "no public address"), ("push.example.net", 8443, "port 8443")])
    func forbidden(name: String, port: Int, reason: String) async throws {
        let client = StrangersClient(authorities: nil, allowsPrivate: false)
        do throws(StrangersClient.Failure) {
            _ = try await client.post("https://\(name):\(port)/", name: name, port: port, [], [])
            Issue.record("it was asked")
        } catch {
            guard case .forbidden(let text) = error, text.contains(reason) else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test("a connection that led to another address than the one that was judged sends nothing (A14)")
    func rebound() async throws {
        // Nothing maps this name, so the client looks it up by itself, as if it had been changed meanwhile.
        let client = try PushClient(authorities: nil, only: ("elsewhere.example.net", "192.0.2.1"))
        let listener = try LocalListener()
        do {
            _ = try await client.post("http://127.0.0.1:\(listener.port)/", [], [1])
            Issue.record("it was sent")
        } catch {
            #expect(error.description.contains("connected to another address"), "\(error)")
        }
    }
}

/// Takes connections on this machine, and says nothing.
private final class LocalListener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
