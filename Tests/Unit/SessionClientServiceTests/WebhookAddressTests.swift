import Crypto
import Testing
import Webhook

@Suite("Session-client: where webhooks go")
struct WebhookAddressTests {
    @Test(
        "without encryption they go to this machine alone",
        arguments: [
            "http://example.org/push", "http://127.0.0.1.example.org/", "http://192.168.0.1/", "http://localhost.evil/",
            "http://user@example.org/", "ftp://localhost/", "https://", "localhost", "",
        ])
    func refused(text: String) {
        #expect(WebhookAddress(text) == nil)
    }

    @Test("without a key they go to this machine alone")
    func unsigned() throws {
        for text in ["http://localhost:9000/push", "http://127.0.0.1/", "http://[::1]:9000/", "https://localhost/"] {
            #expect(try #require(WebhookAddress(text), "\(text)").problem(key: nil) == nil)
        }
        let elsewhere = try #require(WebhookAddress("https://example.org/push"))
        #expect(elsewhere.problem(key: nil) != nil)
        #expect(elsewhere.problem(key: SymmetricKey(size: .bits256)) == nil)
    }
}
