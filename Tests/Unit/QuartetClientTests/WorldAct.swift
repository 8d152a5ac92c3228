import QuartetAPI
import QuartetClient
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// Something that a person does in a play: one for each command that an app keeps, by the command's name.
enum WorldAct: String, CaseIterable {
    case updateProfile = "UpdateProfile"
    case checkIn = "CheckIn"
    case setCheckInInterval = "SetCheckInInterval"
    case setCheckInReminders = "SetCheckInReminders"
    case setCheckInGrace = "SetCheckInGrace"
    case setDailyCheckIns = "SetDailyCheckIns"
    case pauseCheckIns = "PauseCheckIns"
    case resumeCheckIns = "ResumeCheckIns"
    case raiseAlert = "RaiseAlert"
    case clearAlert = "ClearAlert"
    case startTrip = "StartTrip"
    case extendTrip = "ExtendTrip"
    case endTrip = "EndTrip"
    case updateSecurity = "UpdateSecurity"
    case removePhone = "RemovePhone"
    case add = "AddContact"
    case approve = "ApproveContactRequest"
    case decline = "DeclineContactRequest"
    case withdraw = "WithdrawContactRequest"
    case update = "UpdateContact"
    case remove = "RemoveContact"
    case block = "BlockContact"
    case unblock = "UnblockContact"
    case requestRoleChange = "RequestRoleChange"
    case acceptRoleChange = "AcceptRoleChange"
    case declineRoleChange = "DeclineRoleChange"
    case withdrawRoleChange = "WithdrawRoleChange"
    case sendPing = "SendPing"
    case cancelPing = "CancelPing"
    case respondToPing = "RespondToPing"
    case acknowledge = "AcknowledgeAlarm"
    case setResponderTiers = "SetResponderTiers"
    case setPingEscalation = "SetPingEscalation"
    case setPingQuietHours = "SetPingQuietHours"
    case setApproval = "SetContactApproval"
    case resetCode = "ResetContactCode"
    case markRead = "MarkRead"
    case answerDrill = "AnswerDrill"
    case scheduleReminder = "ScheduleReminder"
    case cancelReminder = "CancelReminder"
    case markAllRead = "MarkAllRead"
    case clear = "ClearNotifications"
    case show = "ShowNotifications"
    case registerPush = "RegisterPush"
    case unregisterPush = "UnregisterPush"

    var precedence: Sending.Precedence { appCommands[rawValue]?.sending.precedence ?? .normal }

    typealias Call = @Sendable () async throws(QuartetError) -> Void

    /// - Parameters:
    ///   - other: The other person.
    ///   - number: Chooses what is left open.
    func call(_ app: Quartet, about other: AccountID, number: UInt64) -> Call {
        let isOdd = number % 2 == 1
        let notification = app.notifications.notifications.value.history
            .first { UInt64($0.kind.rawValue.count) + number % 3 > 2 }?.id
        let known = app.contacts.contacts.value.contact(by: other)
        switch self {
        case .updateProfile:
            let base = app.user.user.value.profile
            var edit = base
            edit.emergencyNote = "\(number)"
            return { [edit] () async throws(QuartetError) in
                try await app.user.updateProfile(Edit(base: base, edit: edit))
            }
        case .checkIn: return app.user.checkIn
        case .setCheckInInterval:
            return { () async throws(QuartetError) in
                try await app.user.setCheckInInterval(.minutes(60 + Int64(number % 600)))
            }
        case .setCheckInReminders:
            return { () async throws(QuartetError) in
                try await app.user.setCheckInReminders(isOdd ? [.twoHours] : [])
            }
        case .setCheckInGrace:
            return { () async throws(QuartetError) in
                try await app.user.setCheckInGrace(.minutes(Int64(number % 60)))
            }
        case .setDailyCheckIns:
            let minute = Int(number % 720)
            let daily = DailyTimes(
                times: isOdd ? [minute, minute + 700] : [minute], weekdays: Weekday.allCases, zone: "Europe/Berlin")
            return { () async throws(QuartetError) in try await app.user.setDailyCheckIns(daily) }
        case .pauseCheckIns:
            return { () async throws(QuartetError) in
                try await app.user.pauseCheckIns(.now + .hours(Int64(number % 700)))
            }
        case .resumeCheckIns: return app.user.resumeCheckIns
        case .raiseAlert: return app.user.raiseAlert
        case .clearAlert: return app.user.clearAlert
        case .startTrip:
            let trip = StartTrip(
                name: "Trip \(number)", eta: .now + .minutes(Int64(number % 5000)), grace: isOdd ? .minutes(5) : nil)
            return { () async throws(QuartetError) in try await app.user.startTrip(trip) }
        case .extendTrip:
            let trip = ExtendTrip(
                trip: app.user.user.value.trip?.id ?? TripID(high: 0, low: number),
                eta: .now + .minutes(Int64(number % 5000)))
            return { () async throws(QuartetError) in try await app.user.extendTrip(trip) }
        case .endTrip:
            let trip = EndTrip(
                trip: app.user.user.value.trip?.id ?? TripID(high: 0, low: number),
                end: isOdd ? .arrived : .cancelled)
            return { () async throws(QuartetError) in try await app.user.endTrip(trip) }
        case .updateSecurity:
            return { () async throws(QuartetError) in
                try await app.user.updateSecurity(UpdateSecurityRequest(isConfirmationRequired: isOdd))
            }
        case .removePhone: return app.user.removePhone
        case .add:
            let request = AddContactRequest(handle: isOdd ? "anna" : "bob", isMyResponder: true, iAmResponder: true)
            return { () async throws(QuartetError) in try await app.contacts.add(request) }
        case .approve:
            let request =
                app.contacts.contacts.value.requests[other]
                ?? ContactRequest(
                    account: other, direction: .incoming, isMyResponder: true, iAmResponder: true,
                    requested: Instant(microseconds: 0))
            return { () async throws(QuartetError) in try await app.contacts.approve(request) }
        case .decline: return Self.about(other, app.contacts.decline)
        case .withdraw: return Self.about(other, app.contacts.withdraw)
        case .update:
            let base = ContactFields(known ?? Contact(other))
            var edit = base
            if isOdd { edit.notes = "\(number)" } else { edit.nickname = "\(number % 1000)" }
            return { [edit] () async throws(QuartetError) in
                try await app.contacts.update(other, Edit(base: base, edit: edit))
            }
        case .remove: return Self.about(other, app.contacts.remove)
        case .block: return Self.about(other, app.contacts.block)
        case .unblock: return Self.about(other, app.contacts.unblock)
        case .requestRoleChange: return Self.about(other, app.contacts.requestRoleChange)
        case .acceptRoleChange: return Self.about(other, app.contacts.acceptRoleChange)
        case .declineRoleChange: return Self.about(other, app.contacts.declineRoleChange)
        case .withdrawRoleChange: return Self.about(other, app.contacts.withdrawRoleChange)
        case .sendPing: return Self.about(other, app.contacts.sendPing)
        case .cancelPing: return Self.about(other, app.contacts.cancelPing)
        case .respondToPing: return Self.about(other, app.contacts.respondToPing)
        case .acknowledge:
            let person = app.contacts.contacts.value.person(by: other)
            let answer = AcknowledgeAlarm(
                contact: other, alarm: person?.alertAlarm ?? person?.checkIn?.alarm ?? .new(),
                answer: AlarmAnswer.allCases[Int(number % UInt64(AlarmAnswer.allCases.count))])
            return { () async throws(QuartetError) in try await app.contacts.acknowledge(answer) }
        case .setResponderTiers:
            let tiers = isOdd ? [ResponderTier(after: .minutes(Int64(number % 60) + 1), responders: [other])] : []
            return { () async throws(QuartetError) in try await app.contacts.setResponderTiers(tiers) }
        case .setPingEscalation:
            let command = SetPingEscalation(
                contact: number % 3 == 0 ? other : nil, after: isOdd ? .minutes(Int64(number % 60) + 15) : nil)
            return { () async throws(QuartetError) in try await app.contacts.setPingEscalation(command) }
        case .setPingQuietHours:
            let hours = isOdd ? QuietHours(from: Int(number % 1440), to: Int((number + 60) % 1440)) : nil
            return { () async throws(QuartetError) in try await app.contacts.setPingQuietHours(hours) }
        case .setApproval: return { () async throws(QuartetError) in try await app.contacts.setApproval(isOdd) }
        case .resetCode: return app.contacts.resetCode
        case .markRead:
            return { () async throws(QuartetError) in
                try await app.notifications.markRead(notification ?? NotificationID.new())
            }
        case .answerDrill:
            return { () async throws(QuartetError) in
                try await app.notifications.answerDrill(notification ?? NotificationID.new())
            }
        case .scheduleReminder:
            let reminder = ScheduleReminder(text: "\(number)", due: .now + .minutes(Int64(number % 5000)))
            return { () async throws(QuartetError) in try await app.notifications.scheduleReminder(reminder) }
        case .cancelReminder:
            let id = app.notifications.notifications.value.reminders.first?.id ?? NotificationID.new()
            return { () async throws(QuartetError) in _ = try await app.notifications.cancelReminder(id) }
        case .markAllRead: return app.notifications.markAllRead
        case .clear:
            return { () async throws(QuartetError) in
                try await app.notifications.clear(NotificationSelection(everything: true))
            }
        case .show:
            return { () async throws(QuartetError) in
                try await app.notifications.show([notification ?? NotificationID.new()])
            }
        case .registerPush:
            return { () async throws(QuartetError) in
                try await app.notifications.registerPush(RegisterPushRequest(token: "t\(number)", platform: .ios))
            }
        case .unregisterPush: return app.notifications.unregisterPush
        }
    }

    private static func about(_ other: AccountID, _ call: @escaping ContactsClient.Action<AccountID>) -> Call {
        { () async throws(QuartetError) in try await call(other) }
    }

    /// Those that keep the play going: without a contact most of the others are refused.
    private static let often: [Self] = [
        .checkIn, .raiseAlert, .clearAlert, .sendPing, .cancelPing, .respondToPing, .acknowledge, .update,
        .updateProfile, .add,
        .show,
        .show, .show, .markAllRead,
    ]

    /// Draws one: what ends a relation comes more rarely.
    static func draw(using random: inout some RandomNumberGenerator) -> Self {
        let all = Int.random(in: 0..<3, using: &random) == 0 ? allCases : often
        return all.randomElement(using: &random) ?? .checkIn
    }
}
