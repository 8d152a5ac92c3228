/// The members of a JSON object as they stand in its text, so that what an owner published is decoded once, as the type that
/// it is, and not as part of its envelope.
///
/// It finds where values begin and end and leaves their grammar to whoever decodes them.
struct JSONMembers {
    private let text: [UInt8]
    private var ranges: [String: Range<Int>] = [:]

    /// - Throws: ``TransportError/malformed(_:)`` if the text isn't an object.
    init(_ text: [UInt8]) throws(TransportError) {
        self.text = text
        var scanner = Scanner(text: text)
        guard scanner.skip("{") else { throw Self.malformed }
        guard !scanner.skip("}") else { return }
        repeat {
            guard let name = scanner.value(), let decoded = Self.string(text[name]), scanner.skip(":"),
                let value = scanner.value()
            else { throw Self.malformed }
            ranges[decoded] = value
        } while scanner.skip(",")
        guard scanner.skip("}") else { throw Self.malformed }
    }

    /// A member's value as JSON; nil where it is missing or null.
    subscript(name: String) -> [UInt8]? {
        guard let range = ranges[name], !text[range].elementsEqual("null".utf8) else { return nil }
        return Array(text[range])
    }

    /// A member that is a string.
    func string(_ name: String) -> String? {
        ranges[name].flatMap { Self.string(text[$0]) }
    }

    /// A member that is a whole number.
    func integer(_ name: String) -> Int64? {
        ranges[name].flatMap { Int64(String(decoding: text[$0], as: UTF8.self)) }
    }

    private static let malformed = TransportError.malformed("it must be a JSON object")

    /// Ids, names and words, which need no escapes; a string with escapes isn't one of these.
    private static func string(_ value: ArraySlice<UInt8>) -> String? {
        guard value.count >= 2, value.first == UInt8(ascii: "\""), !value.contains(UInt8(ascii: "\\")) else {
            return nil
        }
        return String(decoding: value.dropFirst().dropLast(), as: UTF8.self)
    }

    private struct Scanner {
        let text: [UInt8]
        var index = 0

        private mutating func skipSpace() {
            while index < text.count, text[index] == 0x20 || (0x09...0x0D).contains(text[index]) { index += 1 }
        }

        mutating func skip(_ mark: Unicode.Scalar) -> Bool {
            skipSpace()
            guard index < text.count, text[index] == UInt8(ascii: mark) else { return false }
            index += 1
            return true
        }

        /// Where the next value stands.
        mutating func value() -> Range<Int>? {
            skipSpace()
            let start = index
            var depth = 0
            while index < text.count {
                switch text[index] {
                case UInt8(ascii: "\""):
                    guard skipString() else { return nil }
                    if depth == 0 { return start..<index }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    // The end of the object that holds a number or a word.
                    if depth == 0 { return index > start ? start..<index : nil }
                    depth -= 1
                    if depth == 0 {
                        index += 1
                        return start..<index
                    }
                case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
                    if depth == 0 { return index > start ? start..<index : nil }
                default: break
                }
                index += 1
            }
            return nil
        }

        private mutating func skipString() -> Bool {
            index += 1
            while index < text.count {
                switch text[index] {
                case UInt8(ascii: "\\"): index += 2
                case UInt8(ascii: "\""):
                    index += 1
                    return true
                default: index += 1
                }
            }
            return false
        }
    }
}
