import Crypto
import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Session-client: limits and addresses")
struct RateLimitTests {
    @Test("a limit allows a burst, then so many a minute; what is given back doesn't count (T21)")
    func bucket() {
        let limit = RateLimit<String>(Rate(6, per: .minute, burst: 2))
        let now = ContinuousClock.now
        #expect(limit.pause == 10)
        #expect(limit.admit("a", at: now) && limit.admit("a", at: now) && !limit.admit("a", at: now))
        #expect(limit.admit("b", at: now), "another's is another's")
        #expect(!limit.admit("a", at: now + .seconds(9)) && limit.admit("a", at: now + .seconds(11)))
        limit.giveBack("a")
        #expect(limit.admit("a", at: now + .seconds(11)) && !limit.admit("a", at: now + .seconds(11)))
    }

    @Test("each request says what is left and when all of it is there again (T21)")
    func levels() {
        let limit = RateLimit<String>(Rate(60, per: .minute, burst: 6))
        let now = ContinuousClock.now
        #expect(limit.policy.quota == 6 && limit.policy.window == 6)
        for left in [5, 4, 3, 2, 1, 0] {
            #expect(limit.take("a", at: now) == .init(isAdmitted: true, left: left, refill: 6 - left))
        }
        #expect(limit.take("a", at: now) == .init(isAdmitted: false, left: 0, refill: 6))
        #expect(limit.take("a", at: now + .seconds(3)) == .init(isAdmitted: true, left: 2, refill: 4))
        #expect(limit.take("a", at: now + .seconds(60)).left == 5)
    }

    @Test(
        "an account's limits are of each kind, an address's so many times as high, and the least left is what counts (T21)"
    )
    func requestLimits() throws {
        let limits = RequestLimits(perMinute: [.reads: 20, .commands: 20], addressFactor: 2)
        let (anna, bob, quota) = (AccountID.new(), AccountID.new(), RequestQuota())
        for _ in 0..<2 {
            try limits.admit(.reads, from: "192.0.2.1", quota.note)
            try limits.admit(.reads, of: anna, quota.note)
        }
        #expect(quota.fields.map { $0.name } == ["RateLimit", "RateLimit-Policy"])
        #expect(quota.fields.map { $0.value } == [#""reads";r=0;t=6"#, #""reads";q=2;w=6"#])
        let refused = #expect(throws: APIError.self) { try limits.admit(.reads, of: anna, quota.note) }
        #expect(refused?.code == .tooManyReads && refused?.retryAfter == 3)
        try limits.admit(.commands, of: anna, quota.note)
        try limits.admit(.reads, of: bob, quota.note)
        for _ in 0..<2 { try limits.admit(.reads, from: "192.0.2.1", quota.note) }
        let crowd = #expect(throws: APIError.self) { try limits.admit(.reads, from: "192.0.2.1", quota.note) }
        #expect(crowd?.code == .tooManyRequests)
        try limits.admit(.reads, from: "192.0.2.2", quota.note)
    }

    @Test("however many strangers come, no one else is refused for it, and memory stays bounded (T21)")
    func crowd() {
        let limit = RateLimit<Int>(Rate(1, per: .minute), subjectLimit: 100)
        let now = ContinuousClock.now
        for stranger in 0..<10_000 { #expect(limit.admit(stranger, at: now)) }
        #expect(limit.admit(-1, at: now))
        #expect(!limit.admit(-1, at: now))
    }

    @Test("what waits for its turn is let through at the limit's pace, and waits no longer than it may (T21)")
    func turns() {
        let limit = RateLimit<String>(Rate(10, per: .second, burst: 2))
        let now = ContinuousClock.now
        func turn(_ subject: String = "a") -> Int {
            let delay = limit.delay(subject, longest: .seconds(1), at: now)
            return Int((delay / .milliseconds(1)).rounded())
        }
        #expect((0..<14).map { _ in turn() } == [0, 0] + (1...10).map { $0 * 100 } + [1000, 1000])
        #expect(turn("b") == 0, "another's is another's")
        #expect(limit.delay("a", longest: .seconds(1), at: now + .milliseconds(450)) < .milliseconds(600))
    }

    @Test(
        "nothing is kept of strangers who have left, and nothing is forgotten of those whose buckets aren't full (T21)")
    func forgetting() {
        let limit = RateLimit<Int>(Rate(6, per: .minute, burst: 2))
        let now = ContinuousClock.now
        for stranger in 1...10_000 { _ = limit.admit(stranger, at: now) }
        #expect(limit.count == 10_000)
        #expect((0..<3).map { _ in limit.admit(0, at: now) } == [true, true, false])
        for round in 1...8 {
            // Whoever asks all the time stays at its limit.
            let admitted = (0..<3).map { _ in limit.admit(0, at: now + .seconds(11 * round)) }
            #expect(admitted == [true, false, false], "\(round)")
        }
        #expect(limit.count == 1)
    }

    @Test("an address that gave up as many requests as it may rests until a quarter of these are there again (T21)")
    func resets() {
        let resets = Resets(Rate(2, per: .second, burst: 8))
        let now = ContinuousClock.now
        #expect((0..<6).allSatisfy { _ in resets.admit("a", at: now) } && resets.rest(of: "a", at: now) == 0)
        #expect(resets.admit("a", at: now) && resets.admit("a", at: now) && !resets.admit("a", at: now))
        #expect(resets.rest(of: "a", at: now) == 1 && resets.rest(of: "b", at: now) == 0)
        #expect(resets.rest(of: "a", at: now + .seconds(2)) == 0)
    }

    @Test(
        "an address identifies a customer, however it is written (T21)",
        arguments: [
            ("203.0.113.7", "203.0.113.7"), ("203.0.113.7:40001", "203.0.113.7"), ("::ffff:203.0.113.7", "203.0.113.7"),
            ("2001:db8::1", "20:1:d:b8:0:0:0:0::/64"), ("[2001:db8::2]:443", "20:1:d:b8:0:0:0:0::/64"),
            ("2001:db8:0:1::1", "20:1:d:b8:0:0:0:1::/64"), ("", "unknown"), ("nonsense", "unknown"),
            ("1.2.3.4, 5.6.7.8", "unknown"),
        ])
    func addresses(text: String, network: String) {
        #expect(ClientAddress.network(of: text) == network)
    }

    @Test("phone codes are six digits derived from their id and the key, and a proof fits only those (S41)")
    func phoneCodes() throws {
        func key() -> String {
            SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString()
        }
        let codes = PhoneCodes(keys: try ServerKeys(key()))
        var seen: Set<String> = []
        for _ in 0..<200 {
            let id = PhoneCodeID.new()
            let text = codes.text(of: id)
            #expect(text.count == 6 && text.allSatisfy(\.isASCII) && text == codes.text(of: id))
            let wrong = text == "000000" ? "000001" : "000000"
            #expect(try codes.proofs(text, of: id) == [codes.proof(of: id)])
            #expect(try codes.proofs(text, of: id) != codes.proofs(wrong, of: id))
            #expect(try codes.proofs(text, of: id) != codes.proofs(text, of: .new()))
            seen.insert(text)
        }
        #expect(seen.count > 150)
        let other = PhoneCodes(keys: try ServerKeys(key()))
        let number = try PhoneNumber("+4930123456")
        #expect(codes.id(of: number) == codes.id(of: number) && codes.id(of: number) != other.id(of: number))
    }
}
