public import QuartetVocabulary

/// In which order responders hear of a missed check-in.
package enum TierCommand: MessageSet {
    case setResponderTiers(SetResponderTiers)
    case beginNextTier(BeginNextTier)

    package static let cases: Cases<Self> = [Case(Self.setResponderTiers), Case(Self.beginNextTier)]

    package var body: any CommandBody {
        switch self {
        case .setResponderTiers(let body): body
        case .beginNextTier(let body): body
        }
    }
}

/// Sets which responders hear of a missed check-in later than the others, and by how much. Those whom no tier names hear of it
/// at once, and a raised alert always goes to everybody at once.
///
/// While somebody is on the alarm, the next tier waits, for at most four hours in all. It begins at once when nobody of the tier before
/// is left: all have answered that they can't do anything, can't be reached, or aren't responders any more. If all who were told can't
/// do anything, if one says that help is needed, or after the third repetition, everybody hears.
///
/// It applies to the next alarm. Whoever stops being a responder is taken out. Rejected: `notContact` if somebody isn't the account's
/// responder; whoever is still in a tier, though they aren't one any more, is dropped. `staleVersion`. Result: ``ResponderTiersSet``; nothing
/// if nothing changes.
public struct SetResponderTiers: PublicCommandBody {
    /// Later, it might undo what the person has decided since on another device.
    public static let sending = Sending(.contactSettings, for: .minutes(10), supersedes: ["SetResponderTiers"])

    /// The soonest first; empty for everybody at once.
    public let tiers: [ResponderTier]
    /// ``ContactsState/responderTiersVersion`` of what these tiers replace, or 0 if that is nil. Whatever there is by then is replaced if
    /// this is nil.
    public let expectedVersion: Int64?

    public init(tiers: [ResponderTier], expectedVersion: Int64? = nil) {
        self.tiers = tiers
        self.expectedVersion = expectedVersion
    }

    public func validate() throws(Rejection) {
        guard tiers.count <= ResponderTier.limit else {
            throw Rejection(.invalidField, "Choose at most \(ResponderTier.limit) tiers.", field: "tiers")
        }
        guard tiers.allSatisfy({ ResponderTier.delays.contains($0.after) }) else {
            throw Rejection(.invalidField, "Let each tier hear 1 to 60 minutes after the first.", field: "tiers")
        }
        guard zip(tiers, tiers.dropFirst()).allSatisfy({ $0.after < $1.after }) else {
            throw Rejection(.invalidField, "Give the tiers in the order in which they hear.", field: "tiers")
        }
        let responders = tiers.flatMap(\.responders)
        guard tiers.allSatisfy({ !$0.responders.isEmpty }), responders.count == Set(responders).count,
            responders.count <= ResponderTier.responderLimit
        else {
            throw Rejection(
                .invalidField,
                "Name somebody in each tier, nobody twice, and at most \(ResponderTier.responderLimit) people.",
                field: "tiers")
        }
    }
}

/// Tells the next tiers of an alarm if it is time. A timer sends this; it changes nothing otherwise.
///
/// Result: ``TierBegan`` for each, and ``ResponderAlerted`` for those who hear.
package struct BeginNextTier: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    /// When the timer was due, by which one is told from another.
    package let due: Instant

    package init(account: AccountID, due: Instant) {
        self.account = account
        self.due = due
    }
}

/// Responders who hear of a missed check-in later than those who hear first.
public struct ResponderTier: Codable, Hashable, Sendable {
    public static let limit = 4
    public static let responderLimit = 100
    public static let delays: ClosedRange<Interval> = .minutes(1) ... .minutes(60)

    /// How long after the first who hear of it, without the time in which somebody is on it.
    public let after: Interval
    public let responders: [AccountID]

    public init(after: Interval, responders: [AccountID]) {
        self.after = after
        self.responders = responders
    }
}

extension [ResponderTier] {
    /// The tiers in which one responder hears at another time.
    /// - Parameter after: How long after the first; zero for with them.
    public func moving(_ responder: AccountID, to after: Interval) -> Self {
        let others = map { tier in
            ResponderTier(after: tier.after, responders: tier.responders.filter { $0 != responder })
        }
        guard after > .seconds(0) else { return others.filter { !$0.responders.isEmpty } }
        let there = others.first { $0.after == after }?.responders ?? []
        let moved = ResponderTier(after: after, responders: (there + [responder]).sorted())
        return (others.filter { $0.after != after && !$0.responders.isEmpty } + [moved]).sorted { $0.after < $1.after }
    }
}
