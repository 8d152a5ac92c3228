import TestKit
import Testing

@testable import SessionClientService

@Suite("Session-client: room for uploads")
struct UploadsTests {
    private static let mb: Int64 = 1 << 20

    @Test("as room for uploads gets short each account may have less, but always enough for a picture (P30)")
    func allowance() {
        #expect(Uploads.allowance(whileWaiting: 0) == 200 * Self.mb)
        #expect(Uploads.allowance(whileWaiting: 2000 * Self.mb) == 200 * Self.mb)
        #expect(Uploads.allowance(whileWaiting: 3296 * Self.mb) == 100 * Self.mb)
        for waiting in [4090, 4096, 9000] as [Int64] {
            #expect(Uploads.allowance(whileWaiting: waiting * Self.mb) == 4 * Self.mb)
        }
    }

    @Test("a few accounts that take all they may leave room for others (P30)")
    func few() {
        var waiting: Int64 = 0
        for _ in 0..<40 {
            var own: Int64 = 0
            while own + Self.mb <= Uploads.allowance(whileWaiting: waiting + Self.mb) {
                (own, waiting) = (own + Self.mb, waiting + Self.mb)
            }
        }
        #expect(waiting < 4096 * Self.mb && Uploads.allowance(whileWaiting: waiting) > 4 * Self.mb)
    }
}
