import Crypto
import Foundation
import JWTKit
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Access tokens: JWTs (RFC 7519) signed with ES256, short-lived, each naming its key. The algorithm is the key's, never
/// the token's choice.
struct Tokens: Sendable {
    /// How long one is good for.
    let lifetime: Duration
    private static let issuer = "quartet"
    /// Somebody who uses an app.
    private static let user = "user"

    /// The time that every replica of the edge agrees on. By their own clocks, a token of one whose clock is slow would be
    /// over before another saw it.
    private let now: @Sendable () -> Instant
    private let keys: JWTKeyCollection
    private let verified = VerifiedTokens()
    private let current: JWKIdentifier
    /// For refresh tokens.
    let serverKeys: ServerKeys
    /// The public halves of all keys, as a JSON Web Key Set (RFC 7517), by which others can verify tokens.
    let keySet: [UInt8]

    /// - Parameters:
    ///   - signingKeys: the current one first; earlier ones still verify.
    ///   - serverKeys: for refresh tokens.
    ///   - lifetime: how long an access token is good for.
    ///   - now: the database's clock.
    /// - Throws: ``MissingKey``.
    init(
        signingKeys: [ES256PrivateKey], serverKeys: ServerKeys, lifetime: Duration,
        now: @Sendable @escaping () -> Instant
    ) async throws {
        keys = JWTKeyCollection()
        self.lifetime = lifetime
        self.now = now
        self.serverKeys = serverKeys
        var current: JWKIdentifier?
        var published: [PublishedKey] = []
        for key in signingKeys {
            // The key's own fingerprint: nobody has to number keys.
            let fingerprint = SHA256.hash(data: Data(key.publicKey.pemRepresentation.utf8)).prefix(8)
            let identifier = JWKIdentifier(string: fingerprint.map { String(format: "%02x", $0) }.joined())
            await keys.add(ecdsa: key, kid: identifier)
            guard let point = key.publicKey.parameters else { throw MissingKey() }
            published.append(PublishedKey(kid: identifier.string, x: point.x, y: point.y))
            current = current ?? identifier
        }
        guard let current else { throw MissingKey() }
        self.current = current
        keySet = try Encoded(["keys": published]).json
    }

    /// A public key as RFC 7518, section 6.2, has it.
    private struct PublishedKey: Encodable {
        var kty = "EC"
        var crv = "P-256"
        var alg = "ES256"
        var use = "sig"
        let kid: String
        let x: String
        let y: String

        init(kid: String, x: String, y: String) {
            self.kid = kid
            self.x = Self.unpadded(x)
            self.y = Self.unpadded(y)
        }

        /// Base64 for URLs, as RFC 7515 wants it.
        private static func unpadded(_ text: String) -> String {
            text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
    }

    /// There is no key to sign with.
    struct MissingKey: Error {}

    /// The private keys in a PEM text, in their order.
    /// - Throws: what is wrong with one of them.
    static func signingKeys(pem: String) throws -> [ES256PrivateKey] {
        var keys: [ES256PrivateKey] = []
        var block: [Substring] = []
        for line in pem.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN") { block = [] }
            block.append(line)
            if line.hasPrefix("-----END"), line.contains("PRIVATE KEY") {
                keys.append(try ES256PrivateKey(pem: block.joined(separator: "\n")))
            }
        }
        return keys
    }

    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let sub: SubjectClaim
        let dev: String
        /// The bearer's roles. A token without the needed role is refused.
        let roles: [String]
        let iat: IssuedAtClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) throws {
            guard iss.value == Tokens.issuer else {
                throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "not ours")
            }
        }
    }

    func accessToken(account: AccountID, device: DeviceID) async throws -> String {
        let now = now()
        let begin = Date(timeIntervalSince1970: Double(now.microseconds) / 1e6)
        let token = try await keys.sign(
            Claims(
                iss: IssuerClaim(value: Self.issuer), sub: SubjectClaim(value: account.description),
                dev: device.description, roles: [Self.user],
                iat: IssuedAtClaim(value: begin),
                exp: ExpirationClaim(value: begin.addingTimeInterval(lifetime / .seconds(1)))),
            kid: current)
        // Nobody has to verify what was just signed here.
        verified.insert(.init(account: account, device: device, end: now + Interval(lifetime)), for: token)
        return token
    }

    /// - Throws: `invalidToken` for anything but a valid token of ours.
    func caller(of token: String) async throws(APIError) -> Caller {
        guard token.utf8.count <= 2048, let bearer = await bearer(of: token) else { throw Self.invalid }
        let left = bearer.end - now()
        guard left > .seconds(0) else { throw Self.invalid }
        return Caller(account: bearer.account, device: bearer.device, expiresAt: .now + left.duration)
    }

    private static let invalid = APIError(
        .invalidToken, "The access token is invalid or has expired; refresh it or sign in.")

    /// Whose token it is, if its signature was verified lately and it is still good.
    func verified(_ token: String) -> VerifiedTokens.Bearer? {
        verified[token].flatMap { $0.end > now() ? $0 : nil }
    }

    private func bearer(of token: String) async -> VerifiedTokens.Bearer? {
        if let known = verified[token] { return known }
        guard let claims = try? await keys.verify(token, as: Claims.self),
            let account = AccountID(claims.sub.value), let device = DeviceID(claims.dev),
            claims.roles.contains(Self.user),
            let end = Int64(exactly: (claims.exp.value.timeIntervalSince1970 * 1e6).rounded())
        else { return nil }
        let bearer = VerifiedTokens.Bearer(account: account, device: device, end: Instant(microseconds: end))
        verified.insert(bearer, for: token)
        return bearer
    }

    // MARK: Refresh tokens

    /// What a refresh token is made of.
    struct Refresh: Hashable, Sendable {
        let account: AccountID
        let device: DeviceID
        let nonce: ID<RefreshSubject>
        /// The server's key under which it is made.
        let key: KeyVersion
    }

    /// What may be made of the same parts: under the current key first.
    func refreshes(_ account: AccountID, _ device: DeviceID, _ nonce: ID<RefreshSubject>) -> [Refresh] {
        serverKeys.all.map { Refresh(account: account, device: device, nonce: nonce, key: $0.version) }
    }

    /// The token's text: `account.device.nonce.key.mac`. Nothing needs to be stored to make it.
    func text(of refresh: Refresh) throws(APIError) -> String {
        let body = Self.body(of: refresh)
        return "\(body).\(Data(try key(of: refresh).mac("refresh/1/\(body)")).base64EncodedString())"
    }

    private static func body(of refresh: Refresh) -> String {
        "\(refresh.account).\(refresh.device).\(refresh.nonce).\(refresh.key)"
    }

    /// What session is given to know the token by.
    func secret(of refresh: Refresh) throws(APIError) -> Secret {
        try secret(of: refresh.device, refresh.nonce, try key(of: refresh))
    }

    /// The same before it is known whose account signs in: it depends on the device and the nonce alone.
    func secret(
        of device: DeviceID, _ nonce: ID<RefreshSubject>, _ key: ServerKeys.ServerKey
    ) throws(APIError) -> Secret {
        guard let secret = key.secret("refresh-secret/1/\(device).\(nonce)") else { throw Self.invalidRefreshToken }
        return secret
    }

    /// - Throws: `invalidToken` for a text that this server did not make, or made under a key that isn't listed any more.
    func refresh(from text: String) throws(APIError) -> Refresh {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 512, parts.count == 5, let account = AccountID(String(parts[0])),
            let device = DeviceID(String(parts[1])), let nonce = ID<RefreshSubject>(String(parts[2])),
            let version = KeyVersion(String(parts[3])), let mac = Data(base64Encoded: String(parts[4]))
        else { throw Self.invalidRefreshToken }
        let refresh = Refresh(account: account, device: device, nonce: nonce, key: version)
        // Constant time.
        let isOurs = HMAC<SHA256>.isValidAuthenticationCode(
            mac, authenticating: Data("refresh/1/\(Self.body(of: refresh))".utf8), using: try key(of: refresh).key)
        guard isOurs else { throw Self.invalidRefreshToken }
        return refresh
    }

    private func key(of refresh: Refresh) throws(APIError) -> ServerKeys.ServerKey {
        guard let key = serverKeys[refresh.key] else {
            throw APIError(
                .invalidToken,
                "The refresh token was made with a key that this server no longer accepts; sign in again.",
                field: "refreshToken")
        }
        return key
    }

    static let invalidRefreshToken = APIError(
        .invalidToken, "The refresh token is invalid; sign in again.", field: "refreshToken")
}

/// What a refresh token's nonce identifies.
enum RefreshSubject {}
