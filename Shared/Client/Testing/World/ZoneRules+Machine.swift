import Foundation
import QuartetSessionRules

extension ZoneRules {
    /// A zone as this machine has it, for the years in which a test may play; nil if it doesn't know the zone.
    init?(of name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        func offset(at time: Date) -> Int64 { Int64(zone.secondsFromGMT(for: time)) }
        var (transitions, offsets) = ([Int64](), [Int64]())
        var time = Date(timeIntervalSince1970: 1_577_836_800)
        let first = offset(at: time)
        while transitions.count < 200, let next = zone.nextDaylightSavingTimeTransition(after: time) {
            transitions.append(Int64(next.timeIntervalSince1970))
            offsets.append(offset(at: next))
            time = next
        }
        self.init(first: first, transitions: transitions, offsets: offsets)
    }
}
