public import QuartetVocabulary

/// The devices that are signed in.
package enum DeviceCommand: MessageSet {
    case refreshDevice(RefreshDevice)
    case signOut(SignOut)

    package static let cases: Cases<Self> = [Case(Self.refreshDevice), Case(Self.signOut)]

    package var body: any CommandBody {
        switch self {
        case .refreshDevice(let body): body
        case .signOut(let body): body
        }
    }
}

/// Exchanges a device's refresh token for the next one. A token that was exchanged before is a copy, so the device is
/// signed out.
///
/// Rejected: `deviceSignedOut`, `invalidToken`. Result: ``DeviceRefreshed``, or ``DeviceSignedOut`` for a copy.
public struct RefreshDevice: CommandBody {
    public let device: DeviceID
    /// The hash of its present token.
    public let token: Secret
    /// The hash of its next token.
    public let next: Secret

    public init(device: DeviceID, token: Secret, next: Secret) {
        self.device = device
        self.token = token
        self.next = next
    }

    public func validate() throws(Rejection) {
        guard token != next else {
            throw Rejection(.invalidField, "The next token must differ from the current one.", field: "next")
        }
    }
}

/// Signs out one device or all of them.
///
/// Rejected: `notFound`, `confirmationRequired` unless it is the asking device. Result: ``DeviceSignedOut`` for each,
/// the asking device first; nothing if it is already signed out.
public struct SignOut: CommandBody {
    /// Nil for all.
    public let device: DeviceID?
    /// The asking device. The others are told that they were signed out from elsewhere.
    public let by: DeviceID?

    public init(device: DeviceID? = nil, by: DeviceID? = nil) {
        self.device = device
        self.by = by
    }
}
