import QuartetVocabulary

/// What messages have to keep their order in besides their key, so that one that fails holds back only its like.
///
/// Text, as in `parked.family`, because replicas of other releases may know other families.
package struct Family: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ text: String) { description = text }

    /// Messages of a key that aren't urgent.
    package static let regular = Family("regular")
    /// Messages of a key that lives may depend on.
    static func urgent(_ family: UrgentFamily) -> Family { urgent[family] ?? Family("urgent \(family)") }
    private static let urgent = Dictionary(
        uniqueKeysWithValues: UrgentFamily.allCases.map { ($0, Family("urgent \($0)")) })

    /// Messages of any key that need the same type, version or word, which this replica doesn't know. They hold back nothing
    /// that it does know.
    static func unknown(_ needs: String) -> Family { Family("unknown \(needs)") }

    /// One message by itself. It failed for long, and nobody would send it again.
    static func alone(_ message: MessageID) -> Family { Family("alone \(message)") }

    /// Whether it has a queue for each key. Any other family is one queue.
    var isOfKey: Bool { self == .regular || isUrgent }

    var isUrgent: Bool { description.hasPrefix("urgent ") }

    /// Whether some of its messages may be urgent: what can't be read, or is tried by itself, may be anything.
    var mayBeUrgent: Bool { isUrgent || !isOfKey }
}

extension MessageSet {
    /// The types that a service asks itself for, and that are urgent.
    package static var urgentTimers: [String] {
        types.filter { $0.isUrgent && $0 is any OwnCommandBody.Type }.map { $0.type }.sorted()
    }

    /// Which of its messages are urgent, always or sometimes.
    static var urgency: Urgency {
        let always = types.filter { $0.isUrgent }.map { ($0.type, Family.urgent($0.urgentFamily)) }
        let sometimes = types.compactMap { $0 as? any SometimesUrgent.Type }.flatMap { type in
            type.urgentKinds.map { ("\(type.type)/\($0)", Family.urgent(type.urgentFamily)) }
        }
        return Urgency(
            types: always.map(\.0), kinds: sometimes.map(\.0),
            families: Dictionary(uniqueKeysWithValues: always + sometimes))
    }

    /// The family of a message of this set.
    static func family(of message: Message) -> Family {
        do throws(MessageError) {
            return try urgentFamily(type: message.type, version: message.version, body: message.body).map(Family.urgent)
                ?? .regular
        } catch {
            return error.needs.map(Family.unknown) ?? .regular
        }
    }
}

/// Messages of one order are handled one after the other, as they were appended. Those of another one don't wait for them.
package struct MessageOrder: Hashable, Sendable {
    let family: Family
    /// Nil if the family is one queue for all keys.
    let key: Key?

    init(_ family: Family, _ key: Key) {
        self.family = family
        self.key = family.isOfKey ? key : nil
    }

    /// As in `parked.queue`.
    var queue: String { key.map { "\(family) \($0)" } ?? family.description }
}

/// Says in which order an item is handled.
package struct Ordering<Item: PartitionItem>: Sendable {
    /// The order that it has to keep.
    let key: @Sendable (Item) -> Item.OrderKey
    /// The order in which it waits for a replica that can read it.
    let unreadable: @Sendable (Item, Fault) -> Item.OrderKey
    /// The order that it has for itself once it has failed for long; nil if it is given up then.
    let alone: @Sendable (Item) -> Item.OrderKey?
    /// Whether what waits in it may be urgent.
    let isUrgent: @Sendable (Item.OrderKey) -> Bool

    package init(
        key: @escaping @Sendable (Item) -> Item.OrderKey,
        unreadable: @escaping @Sendable (Item, Fault) -> Item.OrderKey,
        alone: @escaping @Sendable (Item) -> Item.OrderKey?,
        isUrgent: @escaping @Sendable (Item.OrderKey) -> Bool
    ) {
        (self.key, self.unreadable, self.alone, self.isUrgent) = (key, unreadable, alone, isUrgent)
    }
}

extension Ordering<RecordedMessage> {
    init(_ handler: some BatchHandler) {
        self.init(
            key: { MessageOrder(handler.family(of: $0.message), $0.message.key) },
            unreadable: { MessageOrder(.unknown($1.needs ?? $0.message.type), $0.message.key) },
            alone: { handler.isSentOnce($0) ? MessageOrder(.alone($0.message.id), $0.message.key) : nil },
            isUrgent: { $0.family.mayBeUrgent })
    }
}
