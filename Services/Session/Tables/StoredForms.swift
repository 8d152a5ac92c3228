public import Postgres
public import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import Storage

// How the contract's types are stored in columns

extension GroupEndReason: PostgresEncodable, PostgresDecodable {}
extension LeaveReason: PostgresEncodable, PostgresDecodable {}
extension ParticipantStatus: PostgresEncodable, PostgresDecodable {}
extension PhoneCodePurpose: PostgresEncodable, PostgresDecodable {}
extension PlaybackRate: PostgresEncodable, PostgresDecodable {}
extension ReminderLead: PostgresEncodable, PostgresDecodable {}
extension SecurityChangeKind: PostgresEncodable, PostgresDecodable {}
extension SignOutReason: PostgresEncodable, PostgresDecodable {}
extension SuspensionReason: PostgresEncodable, PostgresDecodable {}

extension Handle: PostgresEncodable, PostgresDecodable {
    public static var postgresType: OID { String.postgresType }

    public func encode(into buffer: inout [UInt8]) -> Bool { description.encode(into: &buffer) }

    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init(kept: try String(postgres: bytes, type: type))
    }
}

/// Exactly 32 bytes, as bytea.
public protocol StoredHash: PostgresEncodable, PostgresDecodable {
    var bytes: [UInt8] { get }
    /// Nil unless there are exactly 32 bytes.
    init?(bytes: [UInt8])
}

extension StoredHash {
    public static var postgresType: OID { Bytes.postgresType }

    public func encode(into buffer: inout [UInt8]) -> Bool { Bytes(bytes).encode(into: &buffer) }

    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let hash = Self(bytes: try Bytes(postgres: bytes, type: type).bytes) else {
            throw DecodingFailure("it doesn't have 32 bytes")
        }
        self = hash
    }
}

extension ChunkHash: StoredHash {}
extension ContentHash: StoredHash {}
extension Secret: StoredHash {
    public init?(bytes: [UInt8]) { self.init(bytes) }
}

extension KeyVersion: PostgresEncodable, PostgresDecodable {
    public static var postgresType: OID { String.postgresType }

    public func encode(into buffer: inout [UInt8]) -> Bool { description.encode(into: &buffer) }

    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let version = Self(try String(postgres: bytes, type: type)) else {
            throw DecodingFailure("it isn't a key's version")
        }
        self = version
    }
}

// Properties that take several columns, or another form in their column. Where one takes several, the first in the
// table's list says whether it is there.

extension [UInt8] {
    var kept: Bytes {
        get { Bytes(self) }
        set { self = newValue.bytes }
    }
}

extension [[UInt8]] {
    /// SHA-256 hashes, one after the other.
    var kept: Bytes {
        get { Bytes(flatMap { $0 }) }
        set { self = newValue.hashes }
    }
}

extension [Secret] {
    var kept: Bytes {
        get { Bytes(flatMap(\.bytes)) }
        set { self = newValue.hashes.compactMap { Secret($0) } }
    }
}

extension Bytes {
    fileprivate var hashes: [[UInt8]] {
        stride(from: 0, to: bytes.count, by: 32).map { Array(bytes[$0..<min($0 + 32, bytes.count)]) }
    }
}

extension Phone? {
    var keptNumber: String? {
        get { self?.number }
        set { self = newValue.map { Phone(number: $0) } }
    }

    var keptRegion: String? {
        get { self?.region }
        set { self?.region = newValue }
    }
}

extension RecoveryRow? {
    var keptHashes: Bytes? {
        get { self?.hashes.kept }
        set {
            self = newValue.map { stored in
                var row = RecoveryRow.blank
                row.hashes = stored.hashes
                return row
            }
        }
    }

    var keptMade: Instant? {
        get { self?.made }
        set { if let newValue { self?.made = newValue } }
    }
}

extension Suspension? {
    var keptSince: Instant? {
        get { self?.since }
        set { self = newValue.map { Suspension(reason: .unavailable, since: $0, until: $0) } }
    }

    var keptUntil: Instant? {
        get { self?.until }
        set { if let newValue { self?.until = newValue } }
    }

    var keptReason: SuspensionReason? {
        get { self?.reason }
        set { if let newValue { self?.reason = newValue } }
    }

    var keptLimit: Int? {
        get { self?.participantLimit }
        set { self?.participantLimit = newValue }
    }
}

extension CodesRow? {
    var keptSince: Instant? {
        get { self?.since }
        set {
            self = newValue.map { since in
                var row = CodesRow.blank
                row.since = since
                return row
            }
        }
    }

    var keptLast: Instant? {
        get { self?.last }
        set { if let newValue { self?.last = newValue } }
    }

    var keptCount: Int {
        get { self?.count ?? 0 }
        set { self?.count = newValue }
    }
}

extension AlarmHold? {
    var keptSince: Instant? {
        get { self?.since }
        set { self = newValue.map { AlarmHold(since: $0, reconsideredAt: $0) } }
    }

    var keptReconsideredAt: Instant? {
        get { self?.reconsideredAt }
        set { if let newValue { self?.reconsideredAt = newValue } }
    }
}
