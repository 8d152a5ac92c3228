import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit

@testable import QuartetSessionRules

extension Household {
    /// Devices that are signed in, and those that are remembered.
    func knownDevices(of account: AccountID) -> [(id: DeviceID, row: DeviceRow)] { rows.devices(of: account) }
}

extension SessionRows {
    /// The account's published state: the same as the view `session.account_state` gives, and as folding
    /// the account's stream.
    func published(_ account: AccountID) -> AccountState {
        guard let row = self[account] else { return AccountState(account: account) }
        guard row.closed == nil else { return AccountState(account: account, isClosed: true) }
        let devices = devices(of: account).filter { $0.row.signedOut == nil }.map {
            Device(id: $0.id, name: $0.row.name, signedIn: $0.row.signedIn, lastSeen: $0.row.lastSeen)
        }
        return AccountState(
            account: account, handle: row.handle?.description, name: row.name, emergencyNote: row.emergencyNote,
            profileVersion: row.profileVersion, phone: row.phone, avatar: row.avatar,
            onboarding: row.name == nil ? .needsProfile : .done, isSingleDevice: row.isSingleDevice,
            isConfirmationRequired: row.isConfirmationRequired, recoveryCodes: recoveries[account]?.hashes.count ?? 0,
            checkIn: CheckInState(
                interval: row.checkIn.interval, reminders: row.checkIn.reminders, last: row.checkIn.last,
                due: row.checkIn.due, missed: row.checkIn.missed, alarm: row.checkIn.alarm,
                grace: row.checkIn.grace > .seconds(0) ? row.checkIn.grace : nil, graceEnds: row.checkIn.shownGraceEnd,
                pausedUntil: row.checkIn.pausedUntil, daily: row.checkIn.daily?.times, opens: row.checkIn.opens,
                version: row.checkIn.version > 0 ? row.checkIn.version : nil),
            alertRaised: row.alert.raised, alertAlarm: row.alert.alarm, lateCall: row.alert.lateCall,
            trip: row.trip?.shown,
            unanswered: row.unanswered?.shown, drill: row.drill, devices: .init(devices))
    }
}
