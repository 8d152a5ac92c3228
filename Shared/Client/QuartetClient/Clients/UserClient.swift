import API
import Foundation
public import SessionContract
public import Vocabulary

// This file alone holds an app's copy of the account, shows it to readers, and replaces it.

/// The account that is signed in, as its owner sees it. It contains no token and no other secret.
///
/// Only ``UserClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyUserState: Hashable, Sendable {
    private var state: AccountState?

    fileprivate init(_ state: AccountState?) {
        self.state = state
    }

    /// Nil while nothing has arrived.
    public var account: AccountID? { state?.account }
    public var handle: String? { state?.handle }
    public var name: String? { state?.name }
    public var emergencyNote: String { state?.emergencyNote ?? "" }
    /// What a form for the profile begins with.
    public var profile: ProfileFields { ProfileFields(name: name, emergencyNote: emergencyNote) }
    public var phone: Phone? { state?.phone }
    public var avatar: Avatar? { state?.avatar }
    /// Whether the account needs a name before others can use it.
    public var needsOnboarding: Bool { state?.onboarding == .needsProfile }
    public var isSingleDevice: Bool { state?.isSingleDevice ?? false }
    public var isConfirmationRequired: Bool { state?.isConfirmationRequired ?? false }
    /// How many are unused.
    public var recoveryCodes: Int { state?.recoveryCodes ?? 0 }
    public var checkIn: CheckInState? { state?.checkIn }
    public var alertRaised: Instant? { state?.alertRaised }
    public var alertAlarm: AlarmID? { state?.alertAlarm }
    public var devices: [Device] { state.map { Array($0.devices) } ?? [] }
    public var isClosed: Bool { state?.isClosed ?? false }
}

/// Follows the account, and is the only one who changes what readers see of it.
private final class UserCopy: StreamConsumer {
    let sequences: Set<StreamName> = [.account]
    let holder = ReplicaHolder<AccountState, ReadOnlyUserState> { ReadOnlyUserState($0) }

    func take(_ event: StreamEvent, opening: Int) throws {
        switch event {
        case .snapshot(_, let snapshot):
            let state = try JSONDecoder().decode(AccountState.self, from: Data(snapshot.state))
            holder.receive(from: opening) { $0.replace(state, opening: opening) }
        case .resumed: holder.receive(from: opening) { $0.resume(opening: opening) }
        case .event(_, let event):
            let change: SessionEvent
            do {
                change = try SessionEvent(type: event.type, version: event.version, body: event.body)
            } catch MessageError.unknownType {
                // A newer server's event is about something that isn't in this state.
                return
            }
            holder.receive(from: opening) { replica in replica.apply(causedBy: event.command) { $0.apply(change) } }
        case .begun, .groupEnded, .groups, .person, .personEnded, .signal: break
        }
    }

    func heartbeat() { holder.heartbeat() }
    func liveness(_ liveness: Liveness) { holder.liveness(liveness) }
    func reset(opening: Int) { holder.reset(opening: opening) }
}

/// Changes the account that is signed in. What features read is ``user``; these are the only ways to change it.
public struct UserClient: Sendable {
    public typealias Action<Input> = @Sendable (Input) async throws(QuartetError) -> Void
    public typealias PlainAction = @Sendable () async throws(QuartetError) -> Void

    /// What every feature reads.
    public var user: Shared<ReadOnlyUserState>
    public var updateProfile: Action<Edit<ProfileFields>>
    /// Says "I'm all right".
    public var checkIn: PlainAction
    public var setCheckInInterval: Action<Interval>
    public var setCheckInReminders: Action<[ReminderLead]>
    public var raiseAlert: PlainAction
    public var clearAlert: PlainAction
    public var updateSecurity: Action<UpdateSecurityRequest>
    public var removePhone: PlainAction
}

extension UserClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let copy = UserCopy()
        service.attach(copy)
        return client(copy, Commands(service: service, holder: copy.holder))
    }

    /// An account that lives in memory: every change is made at once and never refused.
    public static func preview(_ account: AccountState) -> Self {
        let copy = UserCopy()
        copy.holder.change { $0.replace(account, opening: 0) }
        return client(copy, Commands(service: nil, holder: copy.holder))
    }

    private static func client(_ copy: UserCopy, _ commands: Commands<AccountState, ReadOnlyUserState>) -> Self {
        Self(
            user: copy.holder.shared,
            updateProfile: { edit async throws(QuartetError) in
                try await commands.send(
                    edit, show: { $0.take(edit) }, version: { $0.profileVersion },
                    orElse: APIError(.accountNotFound),
                    command: {
                        UpdateProfile(
                            expectedVersion: $0, name: edit.changed(\.name) ?? nil,
                            emergencyNote: edit.changed(\.emergencyNote))
                    },
                    theirs: { current throws(QuartetError) in
                        let theirs = try Requests.decoded(AccountState.self, from: current)
                        let fields = ProfileFields(name: theirs.name, emergencyNote: theirs.emergencyNote)
                        return (fields, theirs.profileVersion)
                    })
            },
            checkIn: { () async throws(QuartetError) in
                let now = commands.now
                try await commands.send(CheckIn()) { state in
                    let due = now + state.checkIn.interval
                    state.apply(.checkedIn(CheckedIn(account: state.account, due: due, at: now)))
                }
            },
            setCheckInInterval: { interval async throws(QuartetError) in
                try await commands.send(SetCheckInInterval(interval: interval)) { $0.checkIn.interval = interval }
            },
            setCheckInReminders: { reminders async throws(QuartetError) in
                try await commands.send(SetCheckInReminders(reminders: reminders)) { $0.checkIn.reminders = reminders }
            },
            raiseAlert: { () async throws(QuartetError) in
                let now = commands.now
                try await commands.send(RaiseAlert()) { $0.alertRaised = $0.alertRaised ?? now }
            },
            clearAlert: { () async throws(QuartetError) in
                try await commands.send(ClearAlert()) { ($0.alertRaised, $0.alertAlarm) = (nil, nil) }
            },
            updateSecurity: { request async throws(QuartetError) in
                try await commands.send(request) { state in
                    state.isSingleDevice = request.isSingleDevice ?? state.isSingleDevice
                    state.isConfirmationRequired = request.isConfirmationRequired ?? state.isConfirmationRequired
                }
            },
            removePhone: { () async throws(QuartetError) in
                try await commands.send(RemovePhoneRequest()) { $0.phone = nil }
            })
    }

    /// Every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        func fail<Input>(_ endpoint: String) -> Action<Input> {
            { _ async throws(QuartetError) in throw error("UserClient.\(endpoint)") }
        }
        func failPlainly(_ endpoint: String) -> PlainAction {
            { () async throws(QuartetError) in throw error("UserClient.\(endpoint)") }
        }
        return Self(
            user: UserCopy().holder.shared, updateProfile: fail("updateProfile"), checkIn: failPlainly("checkIn"),
            setCheckInInterval: fail("setCheckInInterval"), setCheckInReminders: fail("setCheckInReminders"),
            raiseAlert: failPlainly("raiseAlert"), clearAlert: failPlainly("clearAlert"),
            updateSecurity: fail("updateSecurity"), removePhone: failPlainly("removePhone"))
    }
}

extension AccountState {
    /// The fields that a person changed, on top of what the server has.
    fileprivate mutating func take(_ edit: Edit<ProfileFields>) {
        let fields = edit.merged(with: ProfileFields(name: name, emergencyNote: emergencyNote))
        (name, emergencyNote) = (fields.name, fields.emergencyNote)
    }
}
