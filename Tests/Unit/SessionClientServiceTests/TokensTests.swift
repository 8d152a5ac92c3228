import Crypto
import Foundation
import JWTKit
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Access tokens")
struct TokensTests {
    /// What the server publishes of its keys.
    private struct KeySet: Decodable {
        struct Key: Decodable {
            let kid: String
        }

        let keys: [Key]
    }

    /// What a server that lets tokens choose their algorithm would read.
    private struct Claims: JWTPayload {
        let sub: String

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private let key = P256.Signing.PrivateKey()
    private let account = AccountID.new()
    private let device = DeviceID.new()

    private func tokens() async throws -> Tokens {
        try await Tokens(
            signingKeys: try Tokens.signingKeys(pem: key.pemRepresentation),
            serverKeys: try ServerKeys(Data(repeating: 1, count: 32).base64EncodedString()), lifetime: .seconds(900),
            now: { .now })
    }

    /// What the server itself would say of the account, unless a part is another.
    private func content(issuer: String = "quartet", roles: String = #"["user"]"#, end: Int = 9_999_999_999) -> String {
        #"{"iss":"\#(issuer)","sub":"\#(account)","dev":"\#(device)","roles":\#(roles),"iat":1,"exp":\#(end)}"#
    }

    private static func header(_ algorithm: String, _ kid: String?, more: String = "") -> String {
        let named = kid.map { ",\"kid\":\"\($0)\"" } ?? ""
        return #"{"alg":"\#(algorithm)","typ":"JWT"\#(named)\#(more)}"#
    }

    private static func token(
        _ header: String, _ content: String, signed sign: (Data) throws -> Data
    ) rethrows -> String {
        let text = "\(base64(Data(header.utf8))).\(base64(Data(content.utf8)))"
        return "\(text).\(base64(try sign(Data(text.utf8))))"
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func refusal(of token: String, by tokens: Tokens) async -> APIError.Code? {
        do throws(APIError) {
            _ = try await tokens.caller(of: token)
            return nil
        } catch {
            return error.code
        }
    }

    private func signed(_ header: String, _ content: String) throws -> String {
        try Self.token(header, content) { try key.signature(for: $0).rawRepresentation }
    }

    @Test(
        """
        a token under `none`, or under HS256 with the public key as its secret, is refused, though a server that let it choose would \
        take it, and takes the same content from the right key (T22)
        """
    )
    func confusion() async throws {
        let tokens = try await tokens()
        let kid = try #require(try JSONDecoder().decode(KeySet.self, from: Data(tokens.keySet)).keys.first?.kid)
        let publicKey = key.publicKey
        let secrets = [
            Data(publicKey.pemRepresentation.utf8), Data("\(publicKey.pemRepresentation)\n".utf8),
            publicKey.derRepresentation, publicKey.x963Representation, publicKey.rawRepresentation,
        ]
        for kid in [kid, nil] {
            let good = try signed(Self.header("ES256", kid), content())
            #expect(try await tokens.caller(of: good).account == account)

            for name in ["none", "None", "NONE"] {
                let forged = Self.token(Self.header(name, kid), content()) { _ in Data() }
                let careless = JWTKeyCollection()
                await careless.addUnsecuredNone()
                #expect(try await careless.verify(forged, as: Claims.self).sub == account.description)
                #expect(await Self.refusal(of: forged, by: tokens) == .invalidToken, "\(name), \(kid ?? "no key")")
            }
            for secret in secrets {
                let forged = Self.token(Self.header("HS256", kid), content()) { text in
                    Data(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: secret)))
                }
                let careless = JWTKeyCollection()
                await careless.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
                #expect(try await careless.verify(forged, as: Claims.self).sub == account.description)
                #expect(await Self.refusal(of: forged, by: tokens) == .invalidToken, "HS256, \(kid ?? "no key")")
            }
        }
    }

    @Test("a stranger's key is refused under the server's name and when the token brings it along (T22)")
    func foreign() async throws {
        let tokens = try await tokens()
        let kid = try #require(try JSONDecoder().decode(KeySet.self, from: Data(tokens.keySet)).keys.first?.kid)
        let stranger = P256.Signing.PrivateKey()
        let point = stranger.publicKey.rawRepresentation
        let (x, y) = (Self.base64(Data(point.prefix(32))), Self.base64(Data(point.suffix(32))))
        let brought = #","jwk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
        for header in [
            Self.header("ES256", kid), Self.header("ES256", nil), Self.header("ES256", "another"),
            Self.header("ES256", kid, more: brought), Self.header("ES256", nil, more: brought),
        ] {
            let forged = try Self.token(header, content()) { try stranger.signature(for: $0).rawRepresentation }
            #expect(await Self.refusal(of: forged, by: tokens) == .invalidToken, "\(header)")
            // Of everything else in it, nothing is wrong.
            let good = try signed(header, content())
            #expect(await Self.refusal(of: good, by: tokens) == nil, "\(header)")
        }
    }

    @Test(
        "another issuer, no role or another one, and a token that has ended are refused, even under the right key (T22)"
    )
    func claims() async throws {
        let tokens = try await tokens()
        let header = Self.header("ES256", nil)
        let good = try signed(header, content())
        #expect(await Self.refusal(of: good, by: tokens) == nil)
        for content in [
            content(issuer: "another"), content(roles: "[]"), content(roles: #"["operator"]"#), content(end: 1),
        ] {
            let wrong = try signed(header, content)
            #expect(await Self.refusal(of: wrong, by: tokens) == .invalidToken, "\(content)")
        }
    }
}
