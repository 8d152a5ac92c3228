import Foundation
public import QuartetVocabulary

/// A browser's subscription to pushes, as its `PushSubscription` writes itself in JSON (W3C Push API, section 8): the token of the
/// platform ``PushPlatform/web``. Other members are passed over, so an app may add one that tells its accounts in a browser apart.
///
/// What is checked here follows from the text alone. Where the endpoint's name leads is looked at before each push.
public struct WebSubscription: Hashable, Sendable {
    /// The URL to which pushes are posted. Whoever knows it can address the browser: it must not be logged.
    public let endpoint: String
    /// The name of the endpoint's server, in lower case.
    public let host: String
    /// The port of the endpoint's server.
    public let port: Int
    /// The browser's public key: a point of P-256, uncompressed (`p256dh`).
    public let key: [UInt8]
    /// What the browser and its app's server share (`auth`).
    public let secret: [UInt8]

    private static let endpointLimit = 2048
    private static let nameLimit = 253
    private static let keySize = 65
    private static let secretSize = 16
    /// That of a point whose two coordinates follow.
    private static let uncompressed: UInt8 = 4

    private struct Document: Decodable {
        let endpoint: String?
        let keys: Keys?

        struct Keys: Decodable {
            let p256dh: String?
            let auth: String?
        }
    }

    /// Whether a text is meant to be a subscription. Other tokens of the platform are another push service's for browsers: what the
    /// webhook gets hands them on.
    public static func isMeant(by token: String) -> Bool {
        token.hasPrefix("{")
    }

    /// - Throws: a rejection that names the rule.
    public init(_ token: String) throws(Rejection) {
        func refusal(_ rule: String) -> Rejection { Rejection(.invalidField, rule, field: "token") }
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(token.utf8)) else {
            throw refusal(
                "Give the browser's PushSubscription in JSON: an object with endpoint, and with p256dh and auth in keys."
            )
        }
        guard let endpoint = document.endpoint, endpoint.utf8.count <= Self.endpointLimit,
            endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let url = URLComponents(string: endpoint),
            url.scheme == "https", url.user == nil, url.password == nil, url.fragment == nil,
            let host = url.host, host == host.lowercased()
        else {
            throw refusal(
                "The endpoint must be an https:// URL in lower case up to its path, without a user or a fragment, at most \(Self.endpointLimit) characters long."
            )
        }
        guard Self.isName(host) else {
            throw refusal("The endpoint must name its server: letters, digits and hyphens between dots, no address.")
        }
        guard let key = Self.bytes(document.keys?.p256dh), key.count == Self.keySize, key.first == Self.uncompressed
        else {
            throw refusal(
                "p256dh must be an uncompressed point of P-256: \(Self.keySize) bytes in base64url, of which the first is 4."
            )
        }
        guard let secret = Self.bytes(document.keys?.auth), secret.count == Self.secretSize else {
            throw refusal("auth must be \(Self.secretSize) bytes in base64url.")
        }
        self.endpoint = endpoint
        self.host = host
        port = url.port ?? 443
        self.key = key
        self.secret = secret
    }

    /// A name of the Domain Name System. What ends in a number is an address in one of the forms in which browsers and resolvers read
    /// them (`127.1`, `0x7f000001`).
    private static func isName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.utf8.count <= nameLimit && labels.last?.first?.isLetter == true
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { byte in
                        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
                    }
            }
    }

    /// Reads base64url (RFC 4648, section 5), with or without padding.
    private static func bytes(_ text: String?) -> [UInt8]? {
        guard let text else { return nil }
        let digits = text.replacing("-", with: "+").replacing("_", with: "/").prefix { $0 != "=" }
        let padded = digits + String(repeating: "=", count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: String(padded)).map(Array.init)
    }
}
