import Foundation
import QuartetContactsContract
import Testing

@testable import QuartetVocabulary

@Suite
struct PlainDecoderTests {
    private enum Colour: String, Codable { case red, green }

    private struct Everything: Codable, Hashable {
        var text: String?
        var id: AccountID?
        var at: Instant?
        var count: Int?
        var small: Int16?
        var positive: UInt8?
        var isOn: Bool?
        var colour: Colour?
        var any: JSONValue?
    }

    private struct Fraction: Codable, Hashable {
        var value: Double
    }

    private static func plain<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
        PlainDecoder.decode(type, from: Array(text.utf8))
    }

    @Test(
        "what it reads, it reads as Foundation does",
        arguments: [
            #"{}"#, #"{"text":"a b"}"#, #"{"text":null,"count":0,"isOn":false}"#, #"{"unknown":1,"count":-17}"#,
            #"{"at":1800000000000000,"id":"01a1fc74-9a5b-7000-8000-000000000000"}"#, #"{"count":999999999999999999}"#,
            #"{"small":-32768,"positive":255,"colour":"green"}"#, #"{"any":"a","isOn":true}"#, #"{"any":7}"#,
            #"{"any":null}"#, #"{"any":true}"#, #"{"text":"","colour":"red"}"#,
        ])
    func reads(text: String) throws {
        let read = try #require(Self.plain(Everything.self, text))
        #expect(try JSONDecoder().decode(Everything.self, from: Data(text.utf8)) == read)
    }

    @Test(
        "what it isn't certain of, and what is wrong, it leaves to Foundation",
        arguments: [
            "", "{", "}", "{}x", "{} ", " {}", "[]", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1"#, #"{"a":1 }"#,
            #"{"a": 1}"#,
            #"{"text":"\n"}"#, #"{"text":"ü"}"#, "{\"text\":\"\u{1}\"}", #"{"text":"a}"#, #"{"count":1.0}"#,
            #"{"count":1e3}"#, #"{"count":01}"#, #"{"count":-0}"#, #"{"count":-}"#, #"{"count":1000000000000000000}"#,
            #"{"count":1,"count":2}"#, #"{"any":{}}"#, #"{"any":[1]}"#, #"{"isOn":truth}"#, #"{"isOn":tru"#,
            #"{"count":"1"}"#, #"{"text":1}"#, #"{"small":32768}"#, #"{"positive":-1}"#, #"{"colour":"blue"}"#,
            #"{"id":"x"}"#, #"{"isOn":1}"#,
        ])
    func leaves(text: String) {
        #expect(Self.plain(Everything.self, text) == nil)
    }

    @Test("an error that the type overlooks isn't overlooked; a fraction is Foundation's")
    func exceeding() {
        struct Overlooking: Decodable {
            init(from decoder: any Decoder) throws { _ = try? Fraction(from: decoder) }
        }
        #expect(Self.plain(Overlooking.self, #"{"value":1}"#) == nil)
        #expect(Self.plain(Fraction.self, #"{"value":1}"#) == nil)
        #expect(Self.plain([String: Int].self, #"{"a":1}"#) == ["a": 1])
    }

    @Test("the messages of which there are most are read by it")
    func used() throws {
        let ping = PingReceived(account: .new(), contact: .new(), at: .now)
        #expect(PlainDecoder.decode(PingReceived.self, from: try ping.encoded()) == ping)
    }
}
