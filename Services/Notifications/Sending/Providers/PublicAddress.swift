/// Which addresses a stranger's URL may lead to.
enum PublicAddress {
    private typealias Range = (prefix: [UInt8], bits: Int)

    /// What IANA's registry of special-purpose addresses doesn't call globally reachable, multicast, and what is reserved.
    private static let closedIPv4: [Range] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]
    /// Of IPv6, only this is given out for use anywhere. So loopback, link-local, unique local, multicast and mapped addresses are none.
    private static let openIPv6: Range = ([0x20], 3)
    /// Protocol assignments and Teredo, documentation, 6to4.
    private static let closedIPv6: [Range] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16), ([0x3F, 0xFF, 0x00], 20),
    ]
    /// A network with IPv6 alone reaches IPv4 by these addresses (RFC 6052), whose last four bytes are those of the other.
    private static let translated: Range = ([0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8), 96)

    /// - Parameter bytes: The address in the network's order: four bytes or sixteen.
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        switch bytes.count {
        case 4: !closedIPv4.contains { isIn($0, bytes) }
        case 16 where isIn(translated, bytes): isPublic(Array(bytes.suffix(4)))
        case 16: isIn(openIPv6, bytes) && !closedIPv6.contains { isIn($0, bytes) }
        default: false
        }
    }

    private static func isIn(_ range: Range, _ bytes: [UInt8]) -> Bool {
        (0..<range.bits).allSatisfy { bit in
            let mask: UInt8 = 0x80 >> (bit % 8)
            return bytes[bit / 8] & mask == range.prefix[bit / 8] & mask
        }
    }
}
