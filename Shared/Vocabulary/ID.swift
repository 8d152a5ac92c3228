import Crypto
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A 128-bit identifier whose type says what it identifies, so that an account's id can't be passed for a command's.
///
/// Two words instead of Foundation's `UUID`, because the bus mostly hashes and compares them. The text form is that of
/// RFC 9562, in lower case.
public struct ID<Subject>: Hashable, Sendable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    @inlinable
    public static func == (left: Self, right: Self) -> Bool { left.high == right.high && left.low == right.low }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }

    /// The same bits as the identifier of something else, for the few things that are named after another.
    public init<Other>(_ other: ID<Other>) {
        self.init(high: other.high, low: other.low)
    }

    /// In network order.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            for index in 0..<8 {
                buffer[index] = UInt8(truncatingIfNeeded: high >> (56 - 8 * UInt64(index)))
                buffer[index + 8] = UInt8(truncatingIfNeeded: low >> (56 - 8 * UInt64(index)))
            }
            count = 16
        }
    }
}

extension ID: Comparable {
    @inlinable
    public static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

extension ID: TextCodable {
    public static var form: String { "a UUID" }

    /// Accepts the 36-character form of RFC 9562 in either case, and nothing else.
    public init?(_ description: String) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        var index = 0
        for byte in description.utf8 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = Self.hexDigit(byte), digits < 32 else { return nil }
                if digits < 16 { high = high << 4 | digit } else { low = low << 4 | digit }
                digits += 1
            }
            index += 1
        }
        guard index == 36 else { return nil }
        self.init(high: high, low: low)
    }

    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var index = 0
            for word in [high, low] {
                for shift in stride(from: UInt64(60), through: 0, by: -4) {
                    if index == 8 || index == 13 || index == 18 || index == 23 {
                        buffer[index] = UInt8(ascii: "-")
                        index += 1
                    }
                    let digit = UInt8(truncatingIfNeeded: word >> shift & 0xF)
                    buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    index += 1
                }
            }
            return 36
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

extension ID {
    /// A new version 7 identifier (RFC 9562, section 5.7): 48 bits of Unix milliseconds, the rest random.
    public static func new(at time: Instant = .now) -> Self {
        let (first, second) = randomWords.withLock { $0.take() }
        return new(at: time, first, second)
    }

    private static func new(at time: Instant, _ first: UInt64, _ second: UInt64) -> Self {
        let milliseconds = UInt64(clamping: time.milliseconds)
        return Self(
            high: milliseconds << 16 | 0x7000 | first & 0x0FFF,
            low: 0x8000_0000_0000_0000 | second & 0x3FFF_FFFF_FFFF_FFFF)
    }

    /// A version 8 identifier (RFC 9562, section 5.8) with the milliseconds of `time` and the rest from a SHA-256 over
    /// `parts`. The same input gives the same identifier on every machine, and only someone who can choose `parts` can
    /// choose the identifier.
    ///
    /// Keeping the time lets a receiver refuse identifiers older than its memory, and keeps index inserts local.
    public static func derived(at time: Instant, from parts: [UInt8]...) -> Self {
        var hash = SHA256()
        for part in parts {
            // Lengths are hashed too, so that ("ab", "c") and ("a", "bc") differ.
            withUnsafeBytes(of: UInt32(clamping: part.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: part)
        }
        let digest = hash.finalize()
        let (first, second) = digest.withUnsafeBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return Self(
            high: UInt64(clamping: time.milliseconds) << 16 | 0x8000 | first & 0x0FFF,
            low: 0x8000_0000_0000_0000 | second & 0x3FFF_FFFF_FFFF_FFFF)
    }

    /// The RFC 9562 version number.
    public var version: Int { Int(high >> 12 & 0xF) }

    /// The time that a version 7 identifier, or one made by ``derived(at:from:)``, carries, to the millisecond; nil for
    /// other versions.
    public var time: Instant? {
        version == 7 || version == 8 ? Instant(microseconds: Int64(high >> 16) * 1000) : nil
    }
}

/// Words from the system's generator, fetched many at a time. A system call for each would cost more than all the rest
/// of an identifier.
private struct RandomWords: Sendable {
    private var words: [UInt64] = []

    mutating func take() -> (UInt64, UInt64) {
        if words.count < 2 { words = Self.fetch() }
        return (words.removeLast(), words.removeLast())
    }

    private static func fetch() -> [UInt64] {
        // The most that getentropy(3) returns at a time.
        let count = 32
        #if canImport(Glibc)
            var words = [UInt64](repeating: 0, count: count)
            let isFilled = words.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { getentropy($0, bytes.count) == 0 } ?? false
            }
            if isFilled { return words }
        #endif
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

private let randomWords = Mutex(RandomWords())

public enum AccountSubject {}
public enum AlarmSubject {}
public enum GroupSubject {}
public enum TripSubject {}
public enum DrillSubject {}
public enum CommandSubject {}
public enum MessageSubject {}
public enum CorrelationSubject {}
public enum OwnerSubject {}

/// A person's account.
public typealias AccountID = ID<AccountSubject>
/// One missed check-in or one raised alert, from its beginning to its all-clear. Every message about it carries this
/// id.
public typealias AlarmID = ID<AlarmSubject>
/// What people do together, from the beginning of a group session to its end.
public typealias GroupID = ID<GroupSubject>
/// A trip, by whose end somebody has arrived.
public typealias TripID = ID<TripSubject>
/// A drill, in which somebody tests whether an alarm would reach their responders.
public typealias DrillID = ID<DrillSubject>
/// A request to one service. The caller chooses it and keeps it when it sends the command again.
public typealias CommandID = ID<CommandSubject>
/// A row of a log (version 7, made by the sender).
public typealias MessageID = ID<MessageSubject>
/// Everything that one request of an app caused.
public typealias CorrelationID = ID<CorrelationSubject>
/// A process of a service, new at each start. Leases are granted to it.
public typealias OwnerID = ID<OwnerSubject>
