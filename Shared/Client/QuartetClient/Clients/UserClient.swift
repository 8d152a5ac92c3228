import Foundation
public import QuartetAPI
public import QuartetSessionContract
public import QuartetVocabulary

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
    /// What is left to do before the account is useful to others. Nil while nothing has arrived.
    public var onboarding: Onboarding? { state?.onboarding }
    public var needsOnboarding: Bool { onboarding == .needsProfile }
    public var isSingleDevice: Bool { state?.isSingleDevice ?? false }
    public var isConfirmationRequired: Bool { state?.isConfirmationRequired ?? false }
    /// How many are unused.
    public var recoveryCodes: Int { state?.recoveryCodes ?? 0 }
    public var checkIn: CheckInState? { state?.checkIn }
    public var alertRaised: Instant? { state?.alertRaised }
    public var alertAlarm: AlarmID? { state?.alertAlarm }
    /// The newest call for help that came late, of those while the alert is on.
    public var lateCall: LateCall? { state?.lateCall }
    /// The trip that is on, or that was missed and made the alert that is on.
    public var trip: TripState? { state?.trip }
    /// The pings that made the alert that is on because they weren't answered, or were added to it.
    public var unanswered: UnansweredPings? { state?.unanswered }
    /// The newest drill, also when it is over.
    public var drill: DrillState? { state?.drill }
    public var devices: [Device] { state.map { Array($0.devices) } ?? [] }
    public var isClosed: Bool { state?.isClosed ?? false }
}

extension ReadOnlyUserState: CustomReflectable {
    /// Without the phone, for `dump`.
    public var customMirror: Mirror {
        var known = state
        known?.phone = nil
        return Mirror(self, children: ["state": known as Any], displayStyle: .struct)
    }
}

/// Follows the account, and is the only one who changes what readers see of it.
private final class UserCopy: KeptConsumer {
    let sequences: Set<StreamName> = [.account]
    let holder = ReplicaHolder<AccountState, ReadOnlyUserState> { ReadOnlyUserState($0) }

    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<AccountState>? {
        switch event {
        case .snapshot(_, let snapshot):
            let state = try JSONDecoder().decode(AccountState.self, from: Data(snapshot.state))
            return StreamChange { $0.replace(state, opening: opening) }
        case .resumed: return StreamChange { $0.resume(opening: opening) }
        case .event(_, let event):
            guard let change = try event.decoded(as: SessionEvent.self) else { return nil }
            return StreamChange { replica in replica.apply(causedBy: event.command) { $0.apply(change) } }
        case .begun, .groupEnded, .groups, .person, .personEnded, .signal: return nil
        }
    }
}

extension Connection {
    /// When the newest of the pings was sent that made the alert that is on, or were added to it.
    var newestUnansweredPing: Instant? {
        madeCopy(UserCopy.self)?.holder.base?.unanswered?.pings.map(\.sent).max()
    }
}

/// Changes the account that is signed in. What features read is ``user``; these are the only ways to change it.
public struct UserClient: Sendable {
    public typealias Action<Input> = @Sendable (Input) async throws(QuartetError) -> Void
    public typealias PlainAction = @Sendable () async throws(QuartetError) -> Void

    /// What every feature reads.
    public var user: SharedState<ReadOnlyUserState>
    public var updateProfile: Action<Edit<ProfileFields>>
    /// Says "I'm all right".
    public var checkIn: PlainAction
    /// The same, with what came of it: too early for a daily time (``CheckedIn/isEarly``), it counts for nothing, and the person has to
    /// be told from when on it does. Nil if the server said nothing of that.
    public var checkInWithResult: @Sendable () async throws(QuartetError) -> CheckedIn?
    /// Ends daily times, if there are any.
    public var setCheckInInterval: Action<Interval>
    /// The same, unless the interval or the times were changed since the version that the person saw, as ``replaceDailyCheckIns`` says.
    public var replaceCheckInInterval:
        @Sendable (_ interval: Interval, _ expectedVersion: Int64) async throws(QuartetError) -> Void
    public var setCheckInReminders: Action<[ReminderLead]>
    /// Sets how long after a deadline others hear that it was missed: at most an hour, zero for at once.
    public var setCheckInGrace: Action<Interval>
    /// Sets at which times of the day to check in, instead of an interval. It shows once the server has agreed. The device's zone is a
    /// proposal: the chosen one stays until the person changes it.
    public var setDailyCheckIns: Action<DailyTimes>
    /// The same, unless the interval or the times were changed since the version that the person saw (``CheckInState/version``, or 0 if
    /// that is nil): then it is refused with `staleVersion`. What this device changed before doesn't count, be it decided or not.
    public var replaceDailyCheckIns:
        @Sendable (_ daily: DailyTimes, _ expectedVersion: Int64) async throws(QuartetError) -> Void
    /// Pauses check-ins, or changes until when: at most 30 days without a check-in. It shows once the server has agreed.
    public var pauseCheckIns: Action<Instant>
    public var resumeCheckIns: PlainAction
    public var raiseAlert: PlainAction
    public var clearAlert: PlainAction
    /// Starts a trip: unless the person says before its end that they have arrived, an alert is raised. It shows once the server has agreed.
    public var startTrip: Action<StartTrip>
    public var extendTrip: Action<ExtendTrip>
    /// Ends a trip, and the alert that it made, unless the person has called for help by hand. It shows once the server has agreed.
    public var endTrip: Action<EndTrip>
    /// Tells all responders that this is a drill and no alarm, at most once a day and four times in 30 days. Without a connection it fails.
    public var runDrill: PlainAction
    /// For whom the newest drill was ready, and who answered it by now; nil if there was none in a week.
    public var drillReport: @Sendable () async throws(QuartetError) -> DrillReport?
    public var updateSecurity: Action<UpdateSecurityRequest>
    public var removePhone: PlainAction
}

extension UserClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let copy = service.copy { UserCopy() }
        let drills = Drills(
            run: { () async throws(QuartetError) in _ = try await service.requests.command(RunDrillRequest()) },
            report: { () async throws(QuartetError) in
                let answer: [UInt8]
                do throws(QuartetError) { answer = try await service.requests.read(.drill) } catch {
                    if case .refused(let refusal) = error, refusal.code == .notFound { return nil }
                    throw error
                }
                return try Requests.decoded(DrillReport.self, from: answer)
            })
        return client(copy, .live(.account, service, copy.holder), drills)
    }

    /// An account that lives in memory: every change is made at once and never refused.
    public static func preview(_ account: AccountState) -> Self {
        let copy = UserCopy()
        copy.holder.change { $0.replace(account, opening: 0) }
        let drills = Drills(
            run: { () async throws(QuartetError) in
                let began = Instant.now
                let drill = DrillState(id: .new(), began: began, ends: began + DrillRules.length)
                copy.holder.change { $0.apply(causedBy: nil) { $0.drill = drill } }
            },
            report: { () async throws(QuartetError) in
                copy.holder.base?.drill.map { DrillReport(drill: $0, responders: []) }
            })
        return client(copy, Commands(.account, holder: copy.holder), drills)
    }

    /// What isn't kept on the device until there is a connection.
    private struct Drills {
        let run: PlainAction
        let report: @Sendable () async throws(QuartetError) -> DrillReport?
    }

    private static func client(
        _ copy: UserCopy, _ commands: Commands<UserEdit, ReadOnlyUserState>, _ drills: Drills
    ) -> Self {
        func action<Input: Sendable>(_ edit: @escaping @Sendable (Input) -> UserEdit) -> Action<Input> {
            { input async throws(QuartetError) in try await commands.send(edit(input)) }
        }
        func action(_ edit: UserEdit) -> PlainAction {
            { () async throws(QuartetError) in try await commands.send(edit) }
        }
        return Self(
            user: copy.holder.shared,
            updateProfile: { edit async throws(QuartetError) in
                try await commands.send(.updateProfile(seen: copy.holder.base?.profileVersion ?? 0, edit))
            },
            checkIn: action(.checkIn),
            checkInWithResult: { () async throws(QuartetError) in
                let reply = try await commands.send(.checkIn)
                guard let result = reply?.result, reply?.event == CheckedIn.type else { return nil }
                return try Requests.decoded(CheckedIn.self, from: result)
            },
            setCheckInInterval: action { .setCheckInInterval($0, expectedVersion: nil) },
            replaceCheckInInterval: { interval, version async throws(QuartetError) in
                try await commands.send(.setCheckInInterval(interval, expectedVersion: version))
            },
            setCheckInReminders: action { .setCheckInReminders($0) },
            setCheckInGrace: action { .setCheckInGrace($0) },
            setDailyCheckIns: action { .setDailyCheckIns($0, expectedVersion: nil) },
            replaceDailyCheckIns: { daily, version async throws(QuartetError) in
                try await commands.send(.setDailyCheckIns(daily, expectedVersion: version))
            },
            pauseCheckIns: action { .pauseCheckIns($0) },
            resumeCheckIns: action(.resumeCheckIns), raiseAlert: action(.raiseAlert),
            clearAlert: { () async throws(QuartetError) in
                let (shown, known) = (copy.holder.state, copy.holder.base)
                // An own call for help that isn't decided has no alarm yet.
                let alarm = shown?.alertRaised == nil ? known?.alertAlarm : shown?.alertAlarm
                try await commands.send(.clearAlert(alarm: alarm))
            },
            startTrip: action { .startTrip($0) }, extendTrip: action { .extendTrip($0) },
            endTrip: action { .endTrip($0) }, runDrill: drills.run, drillReport: drills.report,
            updateSecurity: action { .updateSecurity($0) },
            removePhone: action(.removePhone))
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
            checkInWithResult: { () async throws(QuartetError) in throw error("UserClient.checkInWithResult") },
            setCheckInInterval: fail("setCheckInInterval"),
            replaceCheckInInterval: { _, _ async throws(QuartetError) in
                throw error("UserClient.replaceCheckInInterval")
            },
            setCheckInReminders: fail("setCheckInReminders"),
            setCheckInGrace: fail("setCheckInGrace"), setDailyCheckIns: fail("setDailyCheckIns"),
            replaceDailyCheckIns: { _, _ async throws(QuartetError) in
                throw error("UserClient.replaceDailyCheckIns")
            },
            pauseCheckIns: fail("pauseCheckIns"), resumeCheckIns: failPlainly("resumeCheckIns"),
            raiseAlert: failPlainly("raiseAlert"), clearAlert: failPlainly("clearAlert"),
            startTrip: fail("startTrip"), extendTrip: fail("extendTrip"), endTrip: fail("endTrip"),
            runDrill: failPlainly("runDrill"),
            drillReport: { () async throws(QuartetError) in throw error("UserClient.drillReport") },
            updateSecurity: fail("updateSecurity"), removePhone: failPlainly("removePhone"))
    }
}

/// What a person wants changed.
private enum UserEdit: ClientEdit {
    /// Of a profile whose version was seen.
    case updateProfile(seen: Int64, Edit<ProfileFields>)
    case checkIn
    case setCheckInInterval(Interval, expectedVersion: Int64?)
    case setCheckInReminders([ReminderLead])
    case setCheckInGrace(Interval)
    /// Whatever there is by then if no version was seen.
    case setDailyCheckIns(DailyTimes, expectedVersion: Int64?)
    case pauseCheckIns(Instant)
    case resumeCheckIns
    case raiseAlert
    /// Nil where the person didn't see an alarm of the server's: it was theirs, which isn't decided yet.
    case clearAlert(alarm: AlarmID?)
    case startTrip(StartTrip)
    case extendTrip(ExtendTrip)
    case endTrip(EndTrip)
    case updateSecurity(UpdateSecurityRequest)
    case removePhone

    var command: any AppCommandBody {
        switch self {
        case .updateProfile(let seen, let edit): UpdateProfile(seen, edit)
        case .checkIn: CheckIn()
        case .setCheckInInterval(let interval, let version):
            SetCheckInInterval(interval: interval, expectedVersion: version)
        case .setCheckInReminders(let reminders): SetCheckInReminders(reminders: reminders)
        case .setCheckInGrace(let grace): SetCheckInGrace(grace: grace)
        case .setDailyCheckIns(let daily, let version): SetDailyCheckIns(daily, expectedVersion: version)
        case .pauseCheckIns(let until): PauseCheckInsRequest(until: until)
        case .resumeCheckIns: ResumeCheckIns()
        case .raiseAlert: RaiseAlert()
        case .clearAlert(let alarm): ClearAlert(alarm: alarm)
        case .startTrip(let command): command
        case .extendTrip(let command): command
        case .endTrip(let command): command
        case .updateSecurity(let request): request
        case .removePhone: RemovePhoneRequest()
        }
    }

    func show(in state: inout AccountState, at time: Instant) {
        switch self {
        case .updateProfile(_, let edit): state.take(edit)
        // For which time it counts, and when the next one is, the server knows, which has the zone.
        case .checkIn where state.checkIn.daily != nil: state.checkIn.last = time
        case .checkIn:
            let pause = state.checkIn.pausedUntil.flatMap { $0 > time ? $0 : nil }
            let due = (pause ?? time) + state.checkIn.interval
            state.apply(.checkedIn(CheckedIn(account: state.account, due: due, at: time)))
        case .setCheckInInterval(let interval, _):
            state.checkIn.interval = interval
            (state.checkIn.daily, state.checkIn.opens) = (nil, nil)
        case .setCheckInReminders(let reminders): state.checkIn.reminders = reminders
        case .setCheckInGrace(let grace):
            // Nobody is to rely on a longer one before the server has agreed.
            let shown = min(grace, state.checkIn.grace ?? .seconds(0))
            state.checkIn.grace = shown > .seconds(0) ? shown : nil
        // Nobody is to rely on other times, or on a pause before the server has agreed; and one that ends is there until then.
        case .setDailyCheckIns, .pauseCheckIns, .resumeCheckIns: break
        // The same of a trip: the alert is raised at the time that the server knows.
        case .startTrip, .extendTrip, .endTrip: break
        case .raiseAlert: state.alertRaised = state.alertRaised ?? time
        case .clearAlert:
            state.endAlert()
            if state.trip?.alarm != nil { state.trip = nil }
        case .updateSecurity(let request):
            state.isSingleDevice = request.isSingleDevice ?? state.isSingleDevice
            state.isConfirmationRequired = request.isConfirmationRequired ?? state.isConfirmationRequired
        case .removePhone: state.phone = nil
        }
    }

    func merged(with earlier: Self, on state: AccountState?) -> Self? {
        guard case (.updateProfile(let seen, let old), .updateProfile(_, let new)) = (earlier, self) else { return nil }
        // What is going to be refused doesn't take the newer one along.
        if let state, !old.conflicts(with: ProfileFields(state)).isEmpty { return nil }
        return new.merged(after: old).map { .updateProfile(seen: seen, $0) }
    }

    func overlaps(_ other: Self) -> Bool {
        guard case (.updateProfile(_, let mine), .updateProfile(_, let theirs)) = (self, other) else { return true }
        return mine.overlaps(theirs)
    }

    func make(in state: inout AccountState, at time: Instant) {
        switch self {
        case .setCheckInGrace(let grace): state.checkIn.grace = grace > .seconds(0) ? grace : nil
        case .setDailyCheckIns(let daily, _):
            (state.checkIn.daily, state.checkIn.interval) = (daily, daily.longestGap)
            state.checkIn.version = Self.version(in: state) + 1
        case .setCheckInInterval:
            show(in: &state, at: time)
            state.checkIn.version = Self.version(in: state) + 1
        case .pauseCheckIns(let until):
            let due = until + state.checkIn.interval
            state.apply(.checkInsPaused(CheckInsPaused(account: state.account, until: until, due: due, at: time)))
        case .resumeCheckIns:
            let due = time + state.checkIn.interval
            state.apply(.checkInsResumed(CheckInsResumed(account: state.account, due: due, isEarly: true, at: time)))
        case .startTrip(let command):
            guard state.trip == nil else { return }
            state.trip = TripState(
                id: .new(), name: command.name, note: command.note, eta: command.eta, grace: command.grace)
        case .extendTrip(let command): if state.trip?.id == command.trip { state.trip?.eta = command.eta }
        case .endTrip(let command):
            guard let trip = state.trip, trip.id == command.trip, trip.isCalled != true else { return }
            if trip.isItsAlert { state.endAlert() }
            state.trip = nil
        default: show(in: &state, at: time)
        }
    }

    var expectedVersion: Int64? {
        switch self {
        case .setDailyCheckIns(_, let version), .setCheckInInterval(_, let version): version
        default: nil
        }
    }

    func expecting(_ version: Int64) -> Self {
        switch self {
        case .setDailyCheckIns(let daily, _?): .setDailyCheckIns(daily, expectedVersion: version)
        case .setCheckInInterval(let interval, _?): .setCheckInInterval(interval, expectedVersion: version)
        default: self
        }
    }

    static func version(in state: AccountState) -> Int64 { state.checkIn.version ?? 0 }

    static func version(madeBy reply: CommandReply) -> Int64? {
        guard let result = reply.result else { return nil }
        return switch reply.event {
        case DailyCheckInsSet.type: (try? Requests.decoded(DailyCheckInsSet.self, from: result))?.version
        case CheckInIntervalSet.type: (try? Requests.decoded(CheckInIntervalSet.self, from: result))?.version
        default: nil
        }
    }

    func command(for state: AccountState?, at acted: Instant) -> any AppCommandBody {
        switch self {
        case .updateProfile(let seen, let edit):
            guard let state else { return command }
            return UpdateProfile(edit.version(state.profileVersion, of: ProfileFields(state), orElse: seen), edit)
        case .raiseAlert: return RaiseAlert(pressed: acted)
        case .clearAlert(let alarm): return ClearAlert(alarm: alarm, pressed: acted)
        case .endTrip(let command):
            return EndTrip(trip: command.trip, end: command.end, pressed: command.pressed ?? acted)
        case .checkIn, .setCheckInInterval, .setCheckInReminders, .setCheckInGrace, .setDailyCheckIns, .pauseCheckIns,
            .resumeCheckIns, .startTrip, .extendTrip, .updateSecurity, .removePhone:
            return command
        }
    }

    func command(basedOn current: [UInt8]) throws(QuartetError) -> (any AppCommandBody)? {
        guard case .updateProfile(_, let edit) = self else { return nil }
        let known = try Requests.decoded(AccountState.self, from: current)
        // The same field was changed to something else elsewhere: nobody's text is lost without a word.
        guard edit.conflicts(with: ProfileFields(known)).isEmpty else { return nil }
        return UpdateProfile(known.profileVersion, edit)
    }
}

extension UpdateProfile {
    fileprivate init(_ version: Int64, _ edit: Edit<ProfileFields>) {
        self.init(
            expectedVersion: version, name: edit.changed(\.name) ?? nil, emergencyNote: edit.changed(\.emergencyNote))
    }
}

extension ProfileFields {
    fileprivate init(_ account: AccountState) {
        self.init(name: account.name, emergencyNote: account.emergencyNote)
    }
}

extension AccountState {
    /// The fields that a person changed, on top of what the server has.
    fileprivate mutating func take(_ edit: Edit<ProfileFields>) {
        let fields = edit.merged(with: ProfileFields(self))
        (name, emergencyNote) = (fields.name, fields.emergencyNote)
        // As the server decides it, so that nobody is asked for a name that shows already.
        if onboarding != nil { onboarding = name == nil ? .needsProfile : .done }
    }
}
