public import QuartetVocabulary

/// The devices that notifications are pushed to.
package enum PushCommand: MessageSet {
    case registerPush(RegisterPush)
    case unregisterPush(UnregisterPush)
    case forgetPush(ForgetPush)
    case recordPushTaken(RecordPushTaken)

    package static let cases: Cases<Self> = [
        Case(Self.registerPush), Case(Self.unregisterPush), Case(Self.forgetPush), Case(Self.recordPushTaken),
    ]

    package var body: any CommandBody {
        switch self {
        case .registerPush(let body): body
        case .unregisterPush(let body): body
        case .forgetPush(let body): body
        case .recordPushTaken(let body): body
        }
    }
}

public enum PushDeviceSubject {}

/// A device that notifications can be pushed to. The edge chooses the id.
public typealias PushDeviceID = ID<PushDeviceSubject>

/// The kind of push service that reaches a device.
public enum PushPlatform: String, Codable, Hashable, Sendable, CaseIterable {
    /// Apple's, for apps.
    case ios
    /// Google's, for apps.
    case android
    /// A browser's.
    case web
    /// Any other.
    case other
}

/// Registers a device to which the account's notifications are pushed from now on. A different token or platform
/// replaces the one registered before.
///
/// Rejected: `invalidField` (the token), `limitReached`. Result: ``PushRegistered``; nothing if nothing changes.
public struct RegisterPush: CommandBody {
    public let device: PushDeviceID
    /// Issued by the push service: 1 to 4096 printable ASCII characters without spaces. A browser's is a ``WebSubscription``. No event
    /// contains it.
    public let token: String
    public let platform: PushPlatform

    public init(device: PushDeviceID, token: String, platform: PushPlatform) {
        self.device = device
        self.token = token
        self.platform = platform
    }

    public func validate() throws(Rejection) {
        let isPrintable = token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPrintable, (1...4096).contains(token.utf8.count) else {
            throw Rejection(
                .invalidField,
                "Give the push service's token: 1 to 4096 printable ASCII characters without spaces.",
                field: "token")
        }
        if platform == .web, WebSubscription.isMeant(by: token) { _ = try WebSubscription(token) }
    }
}

/// Stops pushing to one device or to all of them. Pushes that wait are dropped.
///
/// Result: ``PushUnregistered`` for each; nothing if none was registered.
public struct UnregisterPush: CommandBody {
    /// Nil for all.
    public let device: PushDeviceID?
    /// Whether to still send waiting pushes about the account itself, such as why the device was signed out. No by
    /// default.
    public let stillWarns: Bool?
    /// Whether the device was signed out. It never signs in under this id again, so a ``RegisterPush`` that comes later is
    /// rejected. No by default.
    public let isSignedOut: Bool?

    public init(device: PushDeviceID? = nil, stillWarns: Bool? = nil, isSignedOut: Bool? = nil) {
        self.device = device
        self.stillWarns = stillWarns
        self.isSignedOut = isSignedOut
    }
}

/// Unregisters a device that the push service says is gone. The service sends this to itself; it changes nothing if the
/// device has another token by now.
///
/// Result: ``PushUnregistered``; nothing if it isn't registered with this token.
package struct ForgetPush: OwnCommandBody {
    package let account: AccountID
    package let device: PushDeviceID
    /// The token that is gone.
    package let token: String

    package init(account: AccountID, device: PushDeviceID, token: String) {
        self.account = account
        self.device = device
        self.token = token
    }
}

/// Records that a push service took a push to one of the account's devices. The service sends this to itself, at most once a day
/// for each account.
///
/// Result: ``PushTaken``; nothing if the account is unknown or closed.
package struct RecordPushTaken: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}
