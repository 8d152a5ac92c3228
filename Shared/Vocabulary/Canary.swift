/// The two synthetic accounts of a partition. They are there to show that alarms arrive.
package enum CanaryRole: UInt64, CaseIterable, Sendable {
    /// Is missed again and again.
    case person = 1
    /// Is alerted each time.
    case responder = 2
}

extension ID<AccountSubject> {
    /// Stands where other ids have their time, in a year that none of them is made in.
    private static var canaries: UInt64 { 0xCA9A_4900_0000_8000 }

    /// A canary's account, whose key is in a partition. The same on every machine; nobody who signs up gets such an id.
    /// - Parameter count: How many partitions there are.
    package static func canary(_ role: CanaryRole, of partition: Partition, among count: Int32) -> Self {
        var nonce: UInt64 = 0
        while true {
            let account = Self(high: canaries | role.rawValue, low: 0x8000_0000_0000_0000 | nonce)
            if Partition(of: .account(account), among: count) == partition { return account }
            nonce += 1
        }
    }

    /// Whether it is a synthetic account, which people can neither be nor see.
    package var isCanary: Bool { high & ~0xFFF == Self.canaries }

    /// Nil for a person's account.
    package var canaryRole: CanaryRole? { isCanary ? CanaryRole(rawValue: high & 0xFFF) : nil }
}
