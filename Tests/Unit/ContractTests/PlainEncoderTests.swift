import Foundation
import QuartetContactsContract
import Testing

@testable import QuartetVocabulary

@Suite
struct PlainEncoderTests {
    private enum Colour: String, Codable { case red, green }

    private struct Everything: Encodable {
        var text: String?
        var textB = ""
        var text1 = true
        var textC: Int?
        var id: AccountID?
        var at: Instant?
        var small: Int16?
        var positive: UInt64?
        var colour: Colour?
        var any: JSONValue?
        var nothing: Nothing?

        enum CodingKeys: String, CodingKey {
            case text, textB, text1, id, at, small, positive, colour, any, nothing
            case textC = "Text"
        }
    }

    /// Encodes as null, where a nil optional is left out.
    private struct Nothing: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    private static func foundation(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    private static let texts = [
        "", "a b", "/", "ü", "😀", "\u{7F}", "\u{2028}", "\u{0}", "\n", "\"", "\\", "\u{1F}", "e\u{301}", "\u{FFFF}",
        "\u{FEFF}",
    ]

    @Test("whatever it writes are the bytes that Foundation writes", arguments: 0..<500)
    func writes(seed: Int) throws {
        var generator = SystemRandomNumberGenerator()
        func some<Value>(_ value: @autoclosure () -> Value) -> Value? {
            Bool.random(using: &generator) ? value() : nil
        }
        func text() -> String {
            let count = Int.random(in: 0..<4, using: &generator)
            return (0..<count).map { _ in Self.texts.randomElement(using: &generator) ?? "" }.joined()
        }
        let value = Everything(
            text: some(text()), textB: text(), text1: .random(using: &generator),
            textC: some(.random(in: .min ... .max, using: &generator)), id: some(.new()), at: some(.now),
            small: some(.random(in: .min ... .max, using: &generator)),
            positive: some(.random(in: .min ... .max, using: &generator)), colour: some(.green),
            any: some(
                [.string(text()), .null, .bool(true), .array([]), .object(["a": .null])].randomElement(
                    using: &generator) ?? .null),
            nothing: some(Nothing()))
        guard let plain = PlainEncoder.encode(value) else { return }
        #expect(String(decoding: plain, as: UTF8.self) == String(decoding: try Self.foundation(value), as: UTF8.self))
    }

    @Test("objects of texts, whole numbers, booleans and nulls are written by it, in the order of their members' names")
    func plain() throws {
        let value = Everything(
            text: "ü/", textC: -1, id: AccountID(high: 1, low: 2), small: .min, positive: .max, colour: .red,
            nothing: Nothing())
        let text = try #require(PlainEncoder.encode(value).map { String(decoding: $0, as: UTF8.self) })
        #expect(
            text == """
                {"Text":-1,"colour":"red","id":"00000000-0000-0001-0000-000000000002","nothing":null,\
                "positive":18446744073709551615,"small":-32768,"text":"ü/","text1":true,"textB":""}
                """)
        struct Empty: Encodable {
            func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: PlainKey.self) }
        }
        #expect(PlainEncoder.encode(Empty()) == Array("{}".utf8))
    }

    private enum PlainKey: String, CodingKey { case a }

    /// Encodes in whatever way a test says.
    private struct Encoding: Encodable {
        let write: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private static func isLeft(_ write: @escaping (any Encoder) throws -> Void) -> Bool {
        PlainEncoder.encode(Encoding(write: write)) == nil
    }

    private static func isMemberLeft(
        _ write: @escaping (inout KeyedEncodingContainer<PlainKey>) throws -> Void
    ) -> Bool {
        isLeft { encoder in
            var container = encoder.container(keyedBy: PlainKey.self)
            try write(&container)
        }
    }

    @Test("everything else it leaves to Foundation, even if the value overlooks the error")
    func leaves() {
        for text in ["\"", "\\", "\n", "\u{0}"] { #expect(Self.isMemberLeft({ try $0.encode(text, forKey: .a) })) }
        #expect(Self.isMemberLeft({ try $0.encode(1.5, forKey: .a) }))
        #expect(Self.isMemberLeft({ try? $0.encode(Float(1), forKey: .a) }))
        #expect(Self.isMemberLeft({ try? $0.encode(Date.now, forKey: .a) }))
        #expect(Self.isMemberLeft({ try? $0.encode(Data(), forKey: .a) }))
        #expect(Self.isMemberLeft({ try? $0.encode(Decimal(1), forKey: .a) }))
        #expect(Self.isMemberLeft({ try $0.encode([1], forKey: .a) }))
        #expect(Self.isMemberLeft({ try $0.encode([Int](), forKey: .a) }))
        #expect(Self.isMemberLeft({ try $0.encode(["b": 1], forKey: .a) }))
        #expect(Self.isMemberLeft({ try $0.encode(Encoding { _ in }, forKey: .a) }))
        #expect(
            Self.isMemberLeft({
                try $0.encode("first", forKey: .a)
                try $0.encode("second", forKey: .a)
            }))
        #expect(Self.isMemberLeft({ _ = $0.nestedContainer(keyedBy: PlainKey.self, forKey: .a) }))
        #expect(Self.isMemberLeft({ _ = $0.nestedUnkeyedContainer(forKey: .a) }))
        #expect(Self.isMemberLeft({ _ = $0.superEncoder() }))
        #expect(Self.isMemberLeft({ _ = $0.superEncoder(forKey: .a) }))
        #expect(Self.isLeft { encoder in _ = encoder.unkeyedContainer() })
        #expect(
            Self.isLeft { encoder in
                var container = encoder.singleValueContainer()
                try container.encode("alone")
            })
        #expect(Self.isLeft { _ in })
    }

    @Test("the messages of which there are most are written by it")
    func used() throws {
        let ping = PingReceived(account: .new(), contact: .new(), at: .now)
        #expect(PlainEncoder.encode(ping) == (try Self.foundation(ping)))
    }
}
