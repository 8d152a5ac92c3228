import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite
struct VerifiedTokensTests {
    private static func bearer() -> VerifiedTokens.Bearer {
        VerifiedTokens.Bearer(account: .new(), device: .new(), end: .now)
    }

    @Test("a token is known by its whole text")
    func known() {
        let (tokens, bearer) = (VerifiedTokens(), Self.bearer())
        tokens.insert(bearer, for: "a.b.c")
        #expect(tokens["a.b.c"] == bearer)
        #expect(tokens["a.b.d"] == nil)
        #expect(tokens["a.b"] == nil)
    }

    @Test("what isn't used any more is forgotten, and what is used stays")
    func bounded() {
        let (tokens, used, unused) = (VerifiedTokens(limit: 10), Self.bearer(), Self.bearer())
        tokens.insert(used, for: "used")
        tokens.insert(unused, for: "unused")
        for number in 0..<30 {
            tokens.insert(Self.bearer(), for: "\(number)")
            #expect(tokens["used"] == used)
        }
        #expect(tokens["unused"] == nil)
        #expect((0..<30).count { tokens["\($0)"] != nil } <= 20)
    }
}
