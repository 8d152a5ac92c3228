import QuartetSessionContract
import QuartetVocabulary

/// An unreliable message to participants of a group session. It is never stored; of several that wait, the newest counts.
struct Signal: Hashable, Sendable {
    let group: GroupID
    let sender: AccountID
    /// The recipients; nil if everyone in the session is one.
    let to: [AccountID]?
    let topic: String
    /// JSON; empty for none.
    let data: [UInt8]
    /// When the sender's edge process took it, by the database's clock.
    let at: Instant

    func isVisible(to account: AccountID) -> Bool { account == sender || to?.contains(account) ?? true }
}

extension Signal {
    /// How many bytes ``encode(into:)`` adds.
    var encodedSize: Int { 44 + (to?.count ?? 0) * 16 + topic.utf8.count + data.count }

    /// Adds it in a compact form, so that several fit into one notification.
    func encode(into buffer: inout [UInt8]) {
        buffer += group.bytes
        buffer += sender.bytes
        buffer.append(bigEndian: UInt64(bitPattern: at.microseconds))
        buffer.append(UInt8(clamping: to.map { $0.count } ?? Self.everyone))
        for account in to ?? [] { buffer += account.bytes }
        buffer.append(UInt8(clamping: topic.utf8.count))
        buffer += Array(topic.utf8)
        buffer.append(UInt8(truncatingIfNeeded: data.count >> 8))
        buffer.append(UInt8(truncatingIfNeeded: data.count))
        buffer += data
    }

    /// Stands for no list of recipients, which has at most 100.
    private static let everyone = 255

    /// Reads signals that were encoded one after the other; nil for anything else.
    static func decode(_ bytes: [UInt8]) -> [Signal]? {
        var reader = ByteReader(bytes)
        var signals: [Signal] = []
        while !reader.isAtEnd {
            guard let group: GroupID = reader.id(), let sender: AccountID = reader.id(), let at = reader.integer(8),
                let count = reader.integer(1)
            else { return nil }
            var to: [AccountID]?
            if count != everyone {
                to = []
                for _ in 0..<count {
                    guard let account: AccountID = reader.id() else { return nil }
                    to?.append(account)
                }
            }
            guard let length = reader.integer(1), let topic = reader.bytes(Int(length)), let size = reader.integer(2),
                let data = reader.bytes(Int(size))
            else { return nil }
            signals.append(
                Signal(
                    group: group, sender: sender, to: to, topic: String(decoding: topic, as: UTF8.self),
                    data: Array(data), at: Instant(microseconds: Int64(bitPattern: at))))
        }
        return signals
    }
}

/// Reads bytes that may end anywhere.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        rest = ArraySlice(Array(bytes))
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// An unsigned number of at most 8 bytes, the highest first.
    mutating func integer(_ count: Int) -> UInt64? {
        bytes(count).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    mutating func id<Subject>() -> ID<Subject>? {
        guard let high = integer(8), let low = integer(8) else { return nil }
        return ID(high: high, low: low)
    }
}

extension [UInt8] {
    mutating func append(bigEndian number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
