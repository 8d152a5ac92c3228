import Crypto

/// How a command ended. Exactly one outcome is recorded per command.
package enum Outcome: Hashable, Sendable {
    /// `event` is the first event that the command caused; nil if it changed nothing.
    case accepted(event: CausedEvent?)
    /// Nothing was done.
    case rejected(Rejection)
    /// Given up after retries. Nothing was done, and operators find the command among the dead letters.
    case failed(code: String)

    /// As in the column `outcome`.
    package enum Kind: String, Sendable, Hashable {
        case accepted, rejected, failed
    }

    package var kind: Kind {
        switch self {
        case .accepted: .accepted
        case .rejected: .rejected
        case .failed: .failed
        }
    }

    /// Whether nothing was done, nor ever will be under its id, whatever it said: it waited for too long, or was given up.
    package var isUndone: Bool {
        switch self {
        case .accepted: false
        case .rejected(let rejection): rejection.code == .expired
        case .failed: true
        }
    }
}

/// The first event that an accepted command caused. Its place tells a reader when it has seen the change; its body is
/// the command's result.
package struct CausedEvent: Hashable, Sendable {
    package let partition: Partition
    package let position: Position
    package let type: String
    package let body: [UInt8]

    package init(partition: Partition, position: Position, type: String, body: [UInt8]) {
        self.partition = partition
        self.position = position
        self.type = type
        self.body = body
    }
}

/// Distinguishes bodies sent under the same command id.
package struct BodyHash: Hashable, Sendable {
    package let id: ID<Self>

    package init(id: ID<Self>) {
        self.id = id
    }

    /// The first half of a SHA-256 over type, version, key, account and body.
    package init(type: String, version: Int16, key: Key, account: AccountID?, body: [UInt8]) {
        var text: [UInt8] = []
        text.reserveCapacity(type.utf8.count + key.description.utf8.count + body.count + 32)
        for part in [type, String(version), key.description] {
            text.append(contentsOf: part.utf8)
            text.append(0)
        }
        if let account { text.append(contentsOf: account.bytes) }
        text.append(0)
        text.append(contentsOf: body)
        id = SHA256.hash(data: text).withUnsafeBytes {
            ID(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
