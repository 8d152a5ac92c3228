public import Vocabulary

/// The devices that are pushed to.
public enum PushCommand: MessageSet {
    case registerPush(RegisterPush)
    case unregisterPush(UnregisterPush)
    case forgetPush(ForgetPush)

    public static let cases: Cases<Self> = [Case(Self.registerPush), Case(Self.unregisterPush), Case(Self.forgetPush)]

    public var body: any CommandBody {
        switch self {
        case .registerPush(let body): body
        case .unregisterPush(let body): body
        case .forgetPush(let body): body
        }
    }
}

/// What ``PushDeviceID`` identifies.
public enum PushDeviceSubject {}

/// A device of an account that can be pushed to. Who registers it chooses the id.
public typealias PushDeviceID = ID<PushDeviceSubject>

/// By which kind of push service a device is reached.
public enum PushPlatform: String, Codable, Hashable, Sendable, CaseIterable {
    /// Apple's, for an app.
    case ios
    /// Google's, for an app.
    case android
    /// A browser's.
    case web
    /// Some other.
    case other
}

/// Has what the asker is told from now on also pushed to a device. With another token or platform it replaces what was
/// registered for the device.
///
/// Rejected: `invalidField` (the token), `limitReached`. Result: ``PushRegistered``; nothing if it was exactly so.
public struct RegisterPush: CommandBody {
    /// Which device.
    public let device: PushDeviceID
    /// What the push service knows the app on the device by: 1 to 4096 printable ASCII characters without spaces. No
    /// event tells it.
    public let token: String
    /// By which kind of push service it is reached.
    public let platform: PushPlatform

    /// Its parameters are the properties of the same names.
    public init(device: PushDeviceID, token: String, platform: PushPlatform) {
        self.device = device
        self.token = token
        self.platform = platform
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        let isPrintable = token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPrintable, (1...4096).contains(token.utf8.count) else {
            throw Rejection(
                .invalidField,
                "Give the push service's token: 1 to 4096 printable ASCII characters without spaces.",
                field: "token")
        }
    }
}

/// Has nothing pushed to a device any more, or to none of the account's; what waits to be sent there is dropped.
///
/// Result: ``PushUnregistered`` for each; nothing if none was registered.
public struct UnregisterPush: CommandBody {
    /// Which device; nil for all.
    public let device: PushDeviceID?
    /// Whether what waits to be sent there and is about the account itself still goes, such as why the device was signed
    /// out. Not unless said.
    public let stillWarns: Bool?

    /// Its parameters are the properties of the same names.
    public init(device: PushDeviceID? = nil, stillWarns: Bool? = nil) {
        self.device = device
        self.stillWarns = stillWarns
    }
}

/// Unregisters a device of which the push service says that it is gone. Sent by who pushes; when the device was
/// registered with another token meanwhile, it changes nothing.
///
/// Result: ``PushUnregistered``; nothing if it isn't registered with this token.
public struct ForgetPush: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// Which device.
    public let device: PushDeviceID
    /// What the push service doesn't know any more.
    public let token: String

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: PushDeviceID, token: String) {
        self.account = account
        self.device = device
        self.token = token
    }
}
