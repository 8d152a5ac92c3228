import QuartetVocabulary
import Testing

/// A set inside a set.
@Suite("Message sets")
struct MessageSetTests {
    struct Open: CommandBody {
        let name: String
    }

    struct Close: CommandBody {}

    struct Paint: CommandBody {
        static let version: Int16 = 2
        let colour: String

        static func upcast(from body: [UInt8], version: Int16) throws(MessageError) -> Self { Paint(colour: "red") }
    }

    enum Door: MessageSet {
        case open(Open)
        case close(Close)

        static let cases: Cases<Self> = [Case(Self.open), Case(Self.close)]

        var body: any CommandBody {
            switch self {
            case .open(let body): body
            case .close(let body): body
            }
        }
    }

    enum House: MessageSet {
        case door(Door)
        case paint(Paint)

        static let cases: Cases<Self> = [Case(Self.door), Case(Self.paint)]

        var body: any CommandBody {
            switch self {
            case .door(let set): set.body
            case .paint(let body): body
            }
        }
    }

    @Test("a set reads its own messages and those of the sets inside it, each version")
    func reads() throws {
        let open = try House(type: "Open", version: 1, body: Array(#"{"name":"front"}"#.utf8))
        #expect(open == .door(.open(Open(name: "front"))))
        #expect(open.body is Open)
        #expect(try House(type: "Close", version: 1, body: Array("{}".utf8)) == .door(.close(Close())))
        #expect(try House(type: "Paint", version: 1, body: Array("{}".utf8)) == .paint(Paint(colour: "red")))
        #expect(House.types.map { $0.type } == ["Open", "Close", "Paint"])
    }

    @Test("a type that isn't listed is unknown; a body that doesn't fit is malformed, and the error says where")
    func refuses() {
        #expect(throws: MessageError.unknownType("Paint", version: 2)) {
            try Door(type: "Paint", version: 2, body: Array("{}".utf8))
        }
        #expect(throws: MessageError.unknownType("Open", version: 2)) {
            try House(type: "Open", version: 2, body: Array("{}".utf8))
        }
        #expect(throws: MessageError.malformed(type: "Open", reason: "it is missing", field: "name")) {
            try House(type: "Open", version: 1, body: Array("{}".utf8))
        }
    }
}
