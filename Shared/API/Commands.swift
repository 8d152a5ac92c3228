public import QuartetContactsContract
public import QuartetNotificationsContract
import QuartetSessionContract
public import QuartetVocabulary

/// The commands that apps may send, by name: those of the contracts that are public as they are, and those that have another
/// form here, because the server adds something. All others are for timers, policies and sagas.
package let appCommands: [String: any AppCommandBody.Type] = {
    let asTheyAre = (SessionCommand.types + ContactsCommand.types + NotificationsCommand.types).compactMap {
        $0 as? any AppCommandBody.Type
    }
    let inOtherForms: [any AppCommandBody.Type] = [
        UpdateSecurityRequest.self, RemovePhoneRequest.self, PauseCheckInsRequest.self,
        RunDrillRequest.self, ResetContactCodeRequest.self, AddContactRequest.self,
        ShowNotificationsRequest.self, RegisterPushRequest.self, UnregisterPushRequest.self,
        CreateGroupSessionRequest.self, ActivateGroupSessionRequest.self, JoinGroupSessionRequest.self,
    ]
    return Dictionary(uniqueKeysWithValues: (asTheyAre + inOtherForms).map { ($0.type, $0) })
}()

/// `UpdateSecurity`; the server adds the device.
public struct UpdateSecurityRequest: AppCommandBody {
    public static let type = "UpdateSecurity"
    public static let sending = Sending(.security)

    public let isSingleDevice: Bool?
    public let isConfirmationRequired: Bool?

    public init(isSingleDevice: Bool? = nil, isConfirmationRequired: Bool? = nil) {
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
    }
}

/// `RemovePhone`; the server adds the device.
public struct RemovePhoneRequest: AppCommandBody {
    public static let type = "RemovePhone"
    public static let sending = Sending(.security)

    public init() {}
}

/// `PauseCheckIns`; the server adds the device.
public struct PauseCheckInsRequest: AppCommandBody {
    public static let type = "PauseCheckIns"
    /// Later, it might undo what the person has decided since on another device.
    public static let sending = Sending(
        .checkInSettings, for: .minutes(10), supersedes: ["PauseCheckIns", "ResumeCheckIns"])

    public let until: Instant

    public init(until: Instant) {
        self.until = until
    }
}

/// `RunDrill`; the server adds the device.
public struct RunDrillRequest: AppCommandBody {
    public static let type = "RunDrill"
    /// The person waits for what becomes of it, and doesn't expect it later.
    public static let sending = Sending(.checkInSettings, for: .seconds(30), mayWait: false)

    public init() {}
}

/// `ResetContactCode`; the server makes the code, since one that an app chose could be guessed.
public struct ResetContactCodeRequest: AppCommandBody {
    public static let type = "ResetContactCode"
    public static let sending = Sending(.contactSettings)

    public init() {}
}

/// `AddContact`: by code, handle or phone. An account's id isn't enough: whoever was a contact once keeps it.
public struct AddContactRequest: AppCommandBody {
    public static let type = "AddContact"
    public static let sending = Sending(.newContact)

    public let code: ContactCode?
    public let handle: String?
    public let phone: String?
    public let isMyResponder: Bool?
    public let iAmResponder: Bool?
    public let nickname: String?

    public init(
        code: ContactCode? = nil, handle: String? = nil, phone: String? = nil, isMyResponder: Bool? = nil,
        iAmResponder: Bool? = nil, nickname: String? = nil
    ) {
        self.code = code
        self.handle = handle
        self.phone = phone
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.nickname = nickname
    }
}

/// `ShowNotifications`; the server adds the device.
public struct ShowNotificationsRequest: AppCommandBody {
    public static let type = "ShowNotifications"
    public static let sending = Sending(.receipts)

    public let ids: [NotificationID]
    public let shown: Instant?

    public init(ids: [NotificationID], shown: Instant? = nil) {
        self.ids = ids
        self.shown = shown
    }
}

/// `RegisterPush`; the server adds the device.
public struct RegisterPushRequest: AppCommandBody {
    public static let type = "RegisterPush"
    public static let sending = Sending(.push, supersedes: ["RegisterPush", "UnregisterPush"])

    public let token: String
    public let platform: PushPlatform

    public init(token: String, platform: PushPlatform) {
        self.token = token
        self.platform = platform
    }
}

/// `UnregisterPush`; the server adds the device.
public struct UnregisterPushRequest: AppCommandBody {
    public static let type = "UnregisterPush"
    public static let sending = Sending(.push, supersedes: ["RegisterPush", "UnregisterPush"])

    public init() {}
}

/// A command was accepted.
public struct CommandReply: Hashable, Sendable {
    public let command: CommandID
    /// The type of the first event that it caused; nil when it changed nothing.
    public let event: String?
    /// The event's body, as JSON.
    public let result: [UInt8]?

    public init(command: CommandID, event: String? = nil, result: [UInt8]? = nil) {
        self.command = command
        self.event = event
        self.result = result
    }

    package init(_ command: CommandID, _ event: CausedEvent?) {
        self.command = command
        let event = event.flatMap { $0.type == "Accepted" ? nil : $0 }
        (self.event, result) = (event?.type, event.map { GroupAudience.withheld(from: $0.body, of: $0.type) })
    }
}
