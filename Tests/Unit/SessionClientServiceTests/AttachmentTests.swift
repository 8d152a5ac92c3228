import Crypto
import Foundation
import QuartetAPI
import Testing

@testable import SessionClientService

@Suite("Session-client: attachments as bodies")
struct AttachmentTests {
    @Test(
        "a range is what RFC 9110 says; several, other units and what can't be understood are ignored (P30)",
        arguments: [
            (nil, ByteRange.everything), ("bytes=0-9", .part(0..<10)), ("bytes=0-0", .part(0..<1)),
            ("bytes=10-", .part(10..<100)), ("bytes=-10", .part(90..<100)), ("bytes=-1000", .part(0..<100)),
            ("bytes=99-1000", .part(99..<100)), ("Bytes= 5-6 ", .part(5..<7)), ("bytes=100-", .unsatisfiable),
            ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=9-8", .everything),
            ("bytes=-", .everything), ("bytes=0-1,5-6", .everything), ("items=0-1", .everything),
            ("bytes=a-b", .everything), ("bytes 0-1", .everything), ("bytes=-1-2", .everything), ("", .everything),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0..<100)),
            ("bytes=-99999999999999999999", .part(0..<100)),
        ] as [(String?, ByteRange)])
    func range(header: String?, range: ByteRange) {
        #expect(ByteRange(header, of: 100) == range)
    }

    @Test("any two numbers give a range within the bytes, or none (P30)")
    func anyRange() throws {
        let numbers = ["", "0", "1", "2", "3", "4", "5", "99999999999999999999"]
        for size in 1...4 {
            for first in numbers {
                for last in numbers {
                    if case .part(let part) = ByteRange("bytes=\(first)-\(last)", of: size) {
                        #expect(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size)
                    }
                }
            }
        }
    }

    @Test("a damaged body is refused when its digest was sent, and a digest that can't be one is named (P30)")
    func digest() throws {
        let bytes = Array("chunk".utf8)
        let digest = Data(SHA256.hash(data: bytes)).base64EncodedString()
        for header in ["sha-256=:\(digest):", "sha-512=:AAAA:, sha-256=:\(digest):"] {
            try #require(try ContentDigest(header)).check(bytes)
            #expect(throws: APIError(.digestMismatch, field: "Content-Digest")) {
                try #require(try ContentDigest(header)).check(bytes + [0])
            }
        }
        for header in [nil, "", "sha-512=:AAAA:", "md5=:AAAA:"] { #expect(try ContentDigest(header) == nil) }
        for header in ["sha-256=:", "sha-256=::", "sha-256=:AAAA:", "sha-256=:\(digest)", "sha-256=:!\(digest):"] {
            #expect(throws: APIError.self, "\(header)") { try ContentDigest(header) }
        }
    }

    @Test("a file's name can't end its header or begin another one, whatever is in it (P30)")
    func disposition() {
        #expect(Routes.disposition("a b.pdf") == #"attachment; filename="a b.pdf"; filename*=UTF-8''a%20b.pdf"#)
        #expect(
            Routes.disposition("ä\"\r\nX: y;%")
                == #"attachment; filename="____X: y;_"; filename*=UTF-8''%C3%A4%22%0D%0AX%3A%20y%3B%25"#)
    }
}
