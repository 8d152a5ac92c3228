/// Why bytes aren't a zone's data.
package struct ZoneFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}

// A file of the time zone database as `zic` compiles it (RFC 8536).

extension ZoneRules {
    /// The most changes that a zone's data may have. Those of the zones that changed most often have a few hundred.
    private static let most = 10_000

    /// - Throws: ``ZoneFileError`` for what isn't such a file, or is one of the first version, which says nothing of times after 2037.
    package init(tzif bytes: [UInt8]) throws(ZoneFileError) {
        var reader = ZoneReader(bytes)
        let old = try reader.header()
        guard old.version >= 2 else { throw ZoneFileError(description: "its version is too old") }
        // The data block with 32-bit times, for readers of version 1.
        try reader.skip(old.length(times: 4))
        let header = try reader.header()
        guard header.times <= Self.most, (1...256).contains(header.types) else {
            throw ZoneFileError(description: "it has too many changes or no kinds of time")
        }
        var transitions: [Int64] = []
        for _ in 0..<header.times { transitions.append(try reader.integer(8)) }
        guard zip(transitions, transitions.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw ZoneFileError(description: "its changes aren't in order")
        }
        var indices: [Int] = []
        for _ in 0..<header.times { indices.append(Int(try reader.integer(1)) & 0xFF) }
        var types: [Int64] = []
        for _ in 0..<header.types {
            types.append(try reader.integer(4))
            // Whether it is daylight saving time, and its abbreviation.
            try reader.skip(2)
        }
        guard indices.allSatisfy(types.indices.contains), types.allSatisfy({ abs($0) < Self.longestOffset }) else {
            throw ZoneFileError(description: "its changes lead nowhere")
        }
        // Only files of the "right" zones have any, whose clocks count leap seconds.
        guard header.leaps == 0 else { throw ZoneFileError(description: "it counts leap seconds") }
        try reader.skip(header.letters + header.standards + header.universals)
        let rule = try reader.footer()
        self.init(first: types[0], transitions: transitions, offsets: indices.map { types[$0] }, rule: rule)
    }
}

private struct ZoneReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    struct Header {
        var version: Int
        var universals: Int
        var standards: Int
        var leaps: Int
        var times: Int
        var types: Int
        var letters: Int

        /// Of the data after it.
        func length(times size: Int) -> Int {
            times * (size + 1) + types * 6 + letters + leaps * (size + 4) + standards + universals
        }
    }

    private static var short: ZoneFileError { ZoneFileError(description: "it ends too early") }

    mutating func header() throws(ZoneFileError) -> Header {
        guard bytes.count >= place + 44, Array(bytes[place..<place + 4]) == Array("TZif".utf8) else {
            throw ZoneFileError(description: "it is no compiled time zone")
        }
        let version = bytes[place + 4] == 0 ? 1 : Int(bytes[place + 4]) - Int(UInt8(ascii: "0"))
        place += 20
        var counts: [Int] = []
        for _ in 0..<6 {
            let count = Int(try integer(4))
            guard (0...1_000_000).contains(count) else { throw Self.short }
            counts.append(count)
        }
        return Header(
            version: version, universals: counts[0], standards: counts[1], leaps: counts[2], times: counts[3],
            types: counts[4], letters: counts[5])
    }

    mutating func skip(_ count: Int) throws(ZoneFileError) {
        guard bytes.count - place >= count else { throw Self.short }
        place += count
    }

    /// A big-endian signed integer.
    mutating func integer(_ size: Int) throws(ZoneFileError) -> Int64 {
        guard bytes.count - place >= size, size > 0 else { throw Self.short }
        var value: Int64 = bytes[place] & 0x80 == 0 ? 0 : -1
        for byte in bytes[place..<place + size] { value = value << 8 | Int64(byte) }
        place += size
        return value
    }

    /// What holds after the last change: nil if the file doesn't say.
    mutating func footer() throws(ZoneFileError) -> ZoneRule? {
        let newline = UInt8(ascii: "\n")
        guard place < bytes.count, bytes[place] == newline, let end = bytes[(place + 1)...].firstIndex(of: newline)
        else { throw Self.short }
        let text = Array(bytes[(place + 1)..<end])
        place = end + 1
        return text.isEmpty ? nil : try ZoneRule(posix: text)
    }
}

extension ZoneRule {
    /// - Parameter text: As the environment's `TZ` has it, with the extensions of RFC 8536: `CET-1CEST,M3.5.0,M10.5.0/3`.
    package init(posix text: [UInt8]) throws(ZoneFileError) {
        var reader = RuleReader(text)
        try reader.name()
        // POSIX counts the other way round: hours west of Greenwich are positive.
        let standard = -(try reader.seconds())
        guard !reader.isAtEnd else {
            (self.standard, other) = (standard, nil)
            return
        }
        try reader.name()
        let offset = reader.peek == UInt8(ascii: ",") ? standard + 3600 : -(try reader.seconds())
        try reader.take(UInt8(ascii: ","))
        let from = try reader.turn()
        try reader.take(UInt8(ascii: ","))
        let until = try reader.turn()
        guard reader.isAtEnd, abs(standard) < ZoneRules.longestOffset, abs(offset) < ZoneRules.longestOffset else {
            throw RuleReader.broken
        }
        self.standard = standard
        other = (offset, from, until)
    }
}

private struct RuleReader {
    private let text: [UInt8]
    private var place = 0

    init(_ text: [UInt8]) { self.text = text }

    static var broken: ZoneFileError { ZoneFileError(description: "its rule for later years can't be read") }

    var peek: UInt8? { place < text.count ? text[place] : nil }
    var isAtEnd: Bool { place == text.count }

    mutating func take(_ byte: UInt8) throws(ZoneFileError) {
        guard peek == byte else { throw Self.broken }
        place += 1
    }

    /// An abbreviation: letters, or anything between angle brackets.
    mutating func name() throws(ZoneFileError) {
        let start = place
        if peek == UInt8(ascii: "<") {
            guard let end = text[place...].firstIndex(of: UInt8(ascii: ">")) else { throw Self.broken }
            place = end + 1
        } else {
            while let byte = peek, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF) { place += 1 }
        }
        guard place > start + 2 else { throw Self.broken }
    }

    private mutating func number(_ range: ClosedRange<Int>) throws(ZoneFileError) -> Int {
        var value: Int?
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            value = (value ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
            guard value ?? 0 <= 1000 else { throw Self.broken }
            place += 1
        }
        guard let value, range.contains(value) else { throw Self.broken }
        return value
    }

    /// `[+-]hh[:mm[:ss]]`
    mutating func seconds() throws(ZoneFileError) -> Int64 {
        var sign: Int64 = 1
        if peek == UInt8(ascii: "-") || peek == UInt8(ascii: "+") {
            sign = peek == UInt8(ascii: "-") ? -1 : 1
            place += 1
        }
        var total = Int64(try number(0...167)) * 3600
        for unit in [60, 1] as [Int64] where peek == UInt8(ascii: ":") {
            place += 1
            total += Int64(try number(0...59)) * unit
        }
        return sign * total
    }

    /// `Jn`, `n` or `Mm.w.d`, and `/` with a time of the day.
    mutating func turn() throws(ZoneFileError) -> ZoneRule.Turn {
        let day: ZoneRule.Turn.Day
        switch peek {
        case UInt8(ascii: "J"):
            place += 1
            day = .julian(try number(1...365))
        case UInt8(ascii: "M"):
            place += 1
            let month = try number(1...12)
            try take(UInt8(ascii: "."))
            let week = try number(1...5)
            try take(UInt8(ascii: "."))
            day = .ofMonth(month, week: week, weekday: try number(0...6))
        default: day = .ofYear(try number(0...365))
        }
        guard peek == UInt8(ascii: "/") else { return ZoneRule.Turn(day: day, second: 2 * 3600) }
        place += 1
        return ZoneRule.Turn(day: day, second: try seconds())
    }
}
