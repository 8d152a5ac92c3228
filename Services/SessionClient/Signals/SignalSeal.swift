import Crypto
import Foundation
import QuartetSessionContract
import QuartetVocabulary

// Anyone with a connection to the database may listen to any channel and notify on it. So what edge processes notify each
// other of is sealed: nobody else can read it, make it, or change it.
//
// A sealed payload is, in base64, a header and the sealed text with its tag (AES-256-GCM). The header is authenticated, too:
// a version, the server key's version, the sending process, the payload's number among those of that process, and the time.
// Each process seals under a key of its own, derived from the server key and the process's id (HKDF-SHA256). The nonce is
// the number, so that no nonce occurs twice under one key.

private enum SealFormat {
    static let version: UInt8 = 1
    static let headerSize = 37
    static let tagSize = 16

    static func key(_ serverKey: SymmetricKey, of edge: OwnerID) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: serverKey, salt: edge.bytes, info: Array("quartet/signals/1".utf8),
            outputByteCount: 32)
    }

    static func nonce(_ number: UInt64) throws -> AES.GCM.Nonce {
        var bytes: [UInt8] = [0, 0, 0, 0]
        bytes.append(bigEndian: number)
        return try AES.GCM.Nonce(data: bytes)
    }
}

/// Seals what this process sends.
struct SignalSealer: Sendable {
    private let key: SymmetricKey
    private let start: [UInt8]
    private var number: UInt64 = 0

    /// The longest text whose payload has less than the 8,000 bytes that PostgreSQL allows.
    static let capacity = 7996 / 4 * 3 - SealFormat.headerSize - SealFormat.tagSize

    /// - Parameter edge: This process; another id at each start.
    init(keys: ServerKeys, edge: OwnerID) {
        key = SealFormat.key(keys.current.key, of: edge)
        start = [SealFormat.version] + keys.current.version.bytes + edge.bytes
    }

    mutating func seal(_ text: [UInt8], at time: Instant) throws -> String {
        number += 1
        var header = start
        header.append(bigEndian: number)
        header.append(bigEndian: UInt64(bitPattern: time.microseconds))
        let box = try AES.GCM.seal(
            text, using: key, nonce: try SealFormat.nonce(number), authenticating: header)
        return Data(header + box.ciphertext + box.tag).base64EncodedString()
    }
}

/// Opens what other processes sealed, each payload once and only while it is fresh.
struct SignalOpener: Sendable {
    private struct Sender {
        let key: SymmetricKey
        var number: UInt64
        var time: Instant
    }

    private let keys: ServerKeys
    private var senders: [OwnerID: Sender] = [:]
    /// How far a payload's time may be from now. Covers clocks that differ a little. A payload that is sent again later
    /// than this is refused for its time, an earlier one for its number.
    static let window: Interval = .seconds(10)

    init(keys: ServerKeys) {
        self.keys = keys
    }

    /// Nil for a payload that no edge process made, that was changed, that came before, or that is too old.
    mutating func open(_ payload: String, now: Instant) -> [UInt8]? {
        guard let bytes = Data(base64Encoded: payload), bytes.count > SealFormat.headerSize + SealFormat.tagSize else {
            return nil
        }
        var reader = ByteReader(bytes)
        guard reader.integer(1) == UInt64(SealFormat.version), let version = reader.bytes(4),
            let serverKey = keys.all.first(where: { $0.version.bytes == Array(version) }),
            let edge: OwnerID = reader.id(), let number = reader.integer(8), let microseconds = reader.integer(8),
            let text = reader.bytes(bytes.count - SealFormat.headerSize - SealFormat.tagSize),
            let tag = reader.bytes(SealFormat.tagSize)
        else { return nil }
        let time = Instant(microseconds: Int64(bitPattern: microseconds))
        guard (now - Self.window...now + Self.window).contains(time) else { return nil }
        let known = senders[edge]
        guard number > known?.number ?? 0 else { return nil }
        let key = known?.key ?? SealFormat.key(serverKey.key, of: edge)
        guard let nonce = try? SealFormat.nonce(number),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: text, tag: tag),
            let opened = try? AES.GCM.open(
                box, using: key, authenticating: bytes.prefix(SealFormat.headerSize))
        else { return nil }
        // Only authentic payloads come this far, so there are no more senders than processes were started lately.
        if known == nil { senders = senders.filter { $0.value.time >= now - Self.window } }
        senders[edge] = Sender(key: key, number: number, time: time)
        return Array(opened)
    }
}

extension KeyVersion {
    fileprivate var bytes: [UInt8] {
        UInt32(description, radix: 16).map { number in
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) }
        } ?? []
    }
}
