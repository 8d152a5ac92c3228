import Crypto
import Foundation
import JWTKit
import Vocabulary

/// Who calls: what a verified access token says.
struct Caller: Hashable, Sendable {
    let account: AccountID
    let device: ID<DeviceSubject>
    /// When the token ends; a stream doesn't outlive it.
    let expiresAt: Instant
}

/// Access tokens: JWTs (RFC 7519) signed with ES256, short-lived, each naming its key. The algorithm is the key's, never
/// the token's choice.
struct Tokens: Sendable {
    static let lifetime: Interval = .minutes(15)
    private static let issuer = "quartet"

    private let keys: JWTKeyCollection
    private let current: JWKIdentifier
    private let secret: SymmetricKey

    /// - Parameters:
    ///   - signingKeys: PEM private keys, the current one first; earlier ones still verify.
    ///   - secret: the server's key, for refresh tokens.
    /// - Throws: what is wrong with a key.
    init(signingKeys: [String], secret: SymmetricKey) async throws {
        keys = JWTKeyCollection()
        self.secret = secret
        var current: JWKIdentifier?
        for pem in signingKeys {
            let key = try ES256PrivateKey(pem: pem)
            // The key's own fingerprint: nobody has to number keys.
            let fingerprint = SHA256.hash(data: Data(key.publicKey.pemRepresentation.utf8)).prefix(8)
            let identifier = JWKIdentifier(string: fingerprint.map { String(format: "%02x", $0) }.joined())
            await keys.add(ecdsa: key, kid: identifier)
            current = current ?? identifier
        }
        guard let current else { throw MissingKey() }
        self.current = current
    }

    struct MissingKey: Error, CustomStringConvertible {
        let description =
            "no signing key was given: set SIGNING_KEY_FILE to a PEM file (openssl ecparam -genkey -name prime256v1 -noout)"
    }

    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let sub: SubjectClaim
        let dev: String
        let iat: IssuedAtClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) throws {
            try exp.verifyNotExpired()
            guard iss.value == Tokens.issuer else {
                throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "not ours")
            }
        }
    }

    func accessToken(account: AccountID, device: ID<DeviceSubject>, at time: Instant = .now) async throws -> String {
        let begin = Date(timeIntervalSince1970: Double(time.microseconds) / 1e6)
        return try await keys.sign(
            Claims(
                iss: IssuerClaim(value: Self.issuer), sub: SubjectClaim(value: account.description),
                dev: device.description,
                iat: IssuedAtClaim(value: begin),
                exp: ExpirationClaim(value: begin.addingTimeInterval(Double(Self.lifetime.microseconds) / 1e6))),
            kid: current)
    }

    /// - Throws: ``Problem`` 401 for anything but a valid token of ours.
    func caller(of token: String) async throws(Problem) -> Caller {
        guard token.utf8.count <= 2048, let claims = try? await keys.verify(token, as: Claims.self),
            let account = AccountID(claims.sub.value), let device = ID<DeviceSubject>(claims.dev)
        else {
            throw Problem(
                .unauthorized, "invalidToken", "the access token is not valid or has expired; refresh it or sign in")
        }
        return Caller(
            account: account, device: device,
            expiresAt: Instant(microseconds: Int64(claims.exp.value.timeIntervalSince1970 * 1e6)))
    }

    // MARK: Refresh tokens

    /// A device's refresh token of a generation: `device.generation.mac`. Nothing needs to be stored to make it, and
    /// only its hash is known to the session service.
    func refreshToken(account: AccountID, device: ID<DeviceSubject>, nonce: ID<RefreshSubject>) -> String {
        let body = "\(account).\(device).\(nonce)"
        let mac = HMAC<SHA256>.authenticationCode(for: Data("refresh/1/\(body)".utf8), using: secret)
        return "\(body).\(Data(mac).base64EncodedString())"
    }

    /// - Throws: ``Problem`` 401 for a token that this server did not make.
    func refresh(from token: String) throws(Problem) -> (account: AccountID, device: ID<DeviceSubject>) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 512, parts.count == 4, let account = AccountID(String(parts[0])),
            let device = ID<DeviceSubject>(String(parts[1])), let nonce = ID<RefreshSubject>(String(parts[2])),
            let mac = Data(base64Encoded: String(parts[3]))
        else { throw Self.invalidRefreshToken }
        // Constant time.
        let isOurs = HMAC<SHA256>.isValidAuthenticationCode(
            mac, authenticating: Data("refresh/1/\(account).\(device).\(nonce)".utf8), using: secret)
        guard isOurs else { throw Self.invalidRefreshToken }
        return (account, device)
    }

    /// What the session service is given instead of the token.
    static func hash(of refreshToken: String) -> String {
        Data(SHA256.hash(data: Data(refreshToken.utf8))).base64EncodedString()
    }

    private static let invalidRefreshToken = Problem(
        .unauthorized, "invalidToken", "the refresh token is not valid; sign in again")
}

/// What a refresh token's nonce identifies.
enum RefreshSubject {}
