import Foundation
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("The server's keys")
struct ServerKeysTests {
    private static func key(_ byte: UInt8, count: Int = 32) -> String {
        Data(repeating: byte, count: count).base64EncodedString()
    }

    @Test("keys stand on a line each, the current one first, and are identified by their contents")
    func keys() throws {
        let one = try ServerKeys(" \(Self.key(1))\n")
        #expect(one.earlier.isEmpty && one[one.current.version] != nil)
        let two = try ServerKeys("\(Self.key(2))\n\(Self.key(1))\n")
        #expect(two.earlier.map(\.version) == [one.current.version] && two.current.version != one.current.version)
        #expect(one[two.current.version] == nil)
    }

    @Test(
        "anything that isn't a key is refused",
        arguments: [
            "", "\n", "secret", key(1, count: 31), "\(key(1))\n\(key(1))", "\(key(1)),\(key(2))",
            (1...5).map { key($0) }.joined(separator: "\n"),
        ])
    func wrong(text: String) {
        #expect(throws: (any Error).self) { try ServerKeys(text) }
    }

    @Test("a phone has a name under each key; its codes' digits are derived from the current one")
    func phones() throws {
        let (before, after) = (
            PhoneCodes(keys: try ServerKeys(Self.key(1))),
            PhoneCodes(keys: try ServerKeys("\(Self.key(2))\n\(Self.key(1))"))
        )
        let number = try PhoneNumber("+49 30 123456")
        #expect(before.earlierIDs(of: number) == nil)
        #expect(after.earlierIDs(of: number) == [before.id(of: number)])
        let code = PhoneCodeID.new()
        #expect(try after.proofs(before.text(of: code), of: code).last == before.proof(of: code))
    }
}
