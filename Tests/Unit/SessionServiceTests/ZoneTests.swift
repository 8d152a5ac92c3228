import QuartetSessionRules
import QuartetVocabulary
import TestKit
import Testing

@Suite("Session: time zones")
struct ZoneTests {
    @Test(
        "around each change of the clocks from 2025 to 2030, a zone's rules are what another implementation says (A6)",
        arguments: Zones.twelve)
    func changes(_ name: String) throws {
        let (zone, oracle) = (try Zones.rules(name), try #require(ZoneOracle(name)))
        #expect(oracle.changes.count >= 12)
        for change in oracle.changes {
            for minute in -240...240 as ClosedRange<Int64> where minute % 5 == 0 {
                let time = change + minute * 60
                try #require(zone.offset(at: time) == oracle.offset(at: time), "\(name) \(time)")
                let local = time + oracle.offset(at: change)
                try #require(zone.time(local: local) == oracle.time(local: local), "\(name) \(local)")
            }
        }
    }

    @Test("a skipped time is the first instant after the gap, and a doubled one the first of the two (A6)")
    func examples() throws {
        let (berlin, howe) = (try Zones.rules("Europe/Berlin"), try Zones.rules("Australia/Lord_Howe"))
        /// 2026-03-29 01:00 UTC, at which it is 03:00 there.
        let spring: Int64 = 1_774_746_000
        for minute in [0, 1, 30, 59] as [Int64] {
            #expect(berlin.time(local: spring + 3600 + minute * 60) == spring)
        }
        #expect(berlin.time(local: spring + 3599) == spring - 1)
        #expect(berlin.time(local: spring + 2 * 3600) == spring)
        /// 2026-10-25 01:00 UTC, at which it is 02:00 for the second time.
        let autumn: Int64 = 1_792_890_000
        for minute in [0, 1, 30, 59] as [Int64] {
            #expect(berlin.time(local: autumn + 3600 + minute * 60) == autumn - 3600 + minute * 60)
        }
        #expect(berlin.time(local: autumn + 2 * 3600) == autumn + 3600)
        /// 2026-10-03 15:30 UTC, at which it is 02:30 there, half an hour after 01:59.
        let half: Int64 = 1_791_041_400
        #expect(howe.offset(at: half - 1) == 37_800 && howe.offset(at: half) == 39_600)
        #expect(howe.time(local: half + 37_800 + 900) == half)
    }

    @Test("what a zone does in later years is read as RFC 8536 has it, and nothing else is (A6)")
    func later() throws {
        // 2050-07-01 12:00 UTC.
        let far: Int64 = 2_540_289_600
        for (text, offset) in [
            ("CET-1CEST,M3.5.0,M10.5.0/3", 7200), ("<+0330>-3:30", 12_600), ("IST-1GMT0,M10.5.0,M3.5.0/1", 3600),
            ("EET-2EEST,M3.4.4/50,M10.4.4/50", 10_800), ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -3600),
            ("XXX3EDT4,0/0,J365/23", -14_400), ("AAA0BBB,J60/0,J366/0", nil), ("NZST-12NZDT,M9.5.0,M4.1.0/3", 43_200),
        ] as [(String, Int64?)] {
            guard let offset else {
                #expect(throws: ZoneFileError.self) { try Zones.rules(posix: text, first: 0) }
                continue
            }
            #expect(try Zones.rules(posix: text, first: 0).offset(at: far) == offset, "\(text)")
        }
        for text in ["", "A", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-999", "CET-1x"]
        {
            #expect(throws: ZoneFileError.self, "\(text)") { try Zones.rules(posix: text, first: 0) }
        }
    }

    @Test("a damaged file is refused, or makes rules that answer (A6)")
    func damaged() async throws {
        let whole = try Zones.file("Europe/Berlin")
        for count in whole.indices {
            #expect(throws: ZoneFileError.self, "\(count)") { try ZoneRules(tzif: Array(whole[..<count])) }
        }
        try await withRandom { random in
            for _ in 0..<Soak.count(500, long: 50_000) {
                var bytes = whole
                for _ in 0..<3 {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                guard let zone = try? ZoneRules(tzif: bytes) else { continue }
                let time = Int64.random(in: Zones.years, using: &random)
                _ = (zone.offset(at: time), zone.time(local: time))
            }
        }
    }
}
