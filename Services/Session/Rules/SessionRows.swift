import ContractSupport
package import SessionContract
package import Vocabulary

/// What session keeps, as far as a batch of commands touches it.
package struct SessionRows: Equatable, Sendable {
    /// The numbers in the rules.
    package var limits: SessionLimits
    /// What proves who somebody is.
    package var credentials = WorkingSet<AccountID, CredentialRow>()
    /// Codes that were sent to phones.
    package var phoneCodes = WorkingSet<PhoneCodePlace, PhoneCodeRow>()
    /// Recovery codes.
    package var recoveries = WorkingSet<AccountID, RecoveryRow>()
    /// Changes of accounts' security that may be undone.
    package var securityChanges = WorkingSet<SecurityChangePlace, SecurityChangeRow>()
    /// What was tried by those who aren't signed in.
    package var attempts = WorkingSet<AttemptPlace, AttemptsRow>()
    /// What was uploaded, whole and not long ago, of what the batch's commands name.
    package var uploads: [UploadPlace: Upload] = [:]
    /// Accounts by id, closed ones too: an id is remembered for ever.
    private var accounts = WorkingSet<AccountID, AccountRow>()
    /// Devices, also some that are signed out.
    private var devices = WorkingSet<DevicePlace, DeviceRow>()
    /// Whose handle looks like this.
    private var skeletons: [String: AccountID] = [:]
    /// Whose phone it is.
    private var phoneOwners: [PhoneID: AccountID] = [:]
    /// The same by the number, which has one name under each of the server's keys.
    private var numberOwners: [String: AccountID] = [:]
    /// Which devices of an account are in ``devices``.
    private var deviceIDs: [AccountID: Set<DeviceID>] = [:]

    /// Empty tables.
    package init(limits: SessionLimits = SessionLimits()) {
        self.limits = limits
    }

    // MARK: Loading and saving

    /// Takes an account as the database has it.
    package mutating func load(_ row: AccountRow, at account: AccountID) {
        accounts.load(row, at: account)
        if let handle = row.handle { skeletons[handle.skeleton] = account }
        if let phone = row.phoneID { phoneOwners[phone] = account }
        if let phone = row.phone { numberOwners[phone.number] = account }
    }

    /// Takes a device as the database has it.
    package mutating func load(_ row: DeviceRow, at place: DevicePlace) {
        devices.load(row, at: place)
        deviceIDs[place.account, default: []].insert(place.device)
    }

    /// What has to be written of the accounts.
    package var accountChanges: WorkingSet<AccountID, AccountRow>.Changes { accounts.changes }
    /// What has to be written of the devices.
    package var deviceChanges: WorkingSet<DevicePlace, DeviceRow>.Changes { devices.changes }

    // MARK: Reading and changing

    /// An account.
    package subscript(account: AccountID) -> AccountRow? {
        get { accounts[account] }
        set {
            let old = accounts[account]
            if let handle = old?.handle, handle != newValue?.handle { skeletons[handle.skeleton] = nil }
            accounts[account] = newValue
            if let new = newValue?.handle { skeletons[new.skeleton] = account }
            if let old, old.phoneID != newValue?.phoneID, let phone = old.phoneID { phoneOwners[phone] = nil }
            if let new = newValue?.phoneID { phoneOwners[new] = account }
            if let old, old.phone?.number != newValue?.phone?.number, let phone = old.phone {
                numberOwners[phone.number] = nil
            }
            if let new = newValue?.phone { numberOwners[new.number] = account }
        }
    }

    /// A device of an account.
    package subscript(account: AccountID, device: DeviceID) -> DeviceRow? {
        get { devices[DevicePlace(account, device)] }
        set {
            devices[DevicePlace(account, device)] = newValue
            if newValue == nil {
                deviceIDs[account]?.remove(device)
            } else {
                deviceIDs[account, default: []].insert(device)
            }
        }
    }

    /// Who has a handle that looks like this one.
    package func owner(of handle: Handle) -> AccountID? { skeletons[handle.skeleton] }

    /// Who signs in by this phone.
    package func owner(of phone: PhoneID) -> AccountID? { phoneOwners[phone] }

    /// Whose phone has this number.
    func owner(of phone: Phone) -> AccountID? { numberOwners[phone.number] }

    /// The devices of an account, in the order of their ids.
    func devices(of account: AccountID) -> [(id: DeviceID, row: DeviceRow)] {
        deviceIDs[account, default: []].sorted().compactMap { id in self[account, id].map { (id, $0) } }
    }

    /// The devices of an account that are signed in, the one seen the longest ago first.
    func signedIn(_ account: AccountID) -> [(id: DeviceID, row: DeviceRow)] {
        devices(of: account).filter { $0.row.signedOut == nil }.sorted {
            ($0.row.lastSeen, $0.id) < ($1.row.lastSeen, $1.id)
        }
    }

    /// The changes of an account's security that are remembered, the first one first.
    func securityChanges(of account: AccountID) -> [(place: SecurityChangePlace, row: SecurityChangeRow)] {
        securityChanges.keys.filter { $0.account == account }.sorted().compactMap { place in
            securityChanges[place].map { (place, $0) }
        }
    }

    /// Two states are equal when their rows are, however they were found.
    package static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.credentials == right.credentials
            && left.devices == right.devices && left.phoneCodes == right.phoneCodes && left.attempts == right.attempts
            && left.recoveries == right.recoveries && left.securityChanges == right.securityChanges
    }
}

/// The numbers in the rules of session.
package struct SessionLimits: Equatable, Sendable {
    /// How many devices may be signed in to an account at a time.
    package var devices = 20
    /// How many signed-out devices are remembered, so that each can be told why.
    package var signedOutDevices = 20
    /// How many earlier tokens of a device are recognised as copies.
    package var earlierTokens = 8
    /// How many wrong passwords or digits from one source are free.
    package var freeFailures = 4
    /// How many from all sources together.
    package var freeFailuresFromEverywhere = 100
    /// How long none is looked at after one more; doubled with each further one.
    package var firstBlock: Interval = .minutes(1)
    /// The longest time that none is looked at.
    package var longestBlock: Interval = .hours(1)
    /// How long after the first one they are forgotten.
    package var attemptsKept: Interval = .days(1)
    /// How long after a phone code the next one may be asked for from the same source.
    package var phoneCodePause: Interval = .seconds(30)
    /// How many phone codes may be asked for from one source within an hour.
    package var phoneCodes = 5
    /// How many to one phone from all sources together.
    package var phoneCodesFromEverywhere = 20
    /// How long a confirmation is good for.
    package var confirmation: Interval = .minutes(5)
    /// How long a phone that replaced another one can't sign in, unless the change was confirmed by the password.
    package var phoneRest: Interval = .days(1)
    /// How long a change of the account's security may be undone by a device that it signed out.
    package var undoWindow: Interval = .hours(72)
    /// How many such changes there may be within that time. Each needs a confirmation, so a person makes few.
    package var securityChanges = 50
    /// How long after a check-in the next one may come.
    package var checkInCooldown: Interval = .minutes(5)
    /// The shortest interval that somebody may choose.
    package var leastCheckInInterval: Interval = .hours(1)
    /// How often responders hear again of a missed check-in or an alert.
    package var repetitions = 3
    /// How long after each time the next one comes.
    package var repetitionInterval: Interval = .minutes(30)
    /// How many alerts within a window responders hear of at once.
    package var alertBurst = 3
    /// How long such a window is.
    package var alertWindow: Interval = .minutes(10)
    /// How long responders don't hear of a further one.
    package var alertPause: Interval = .seconds(60)
    /// How long the handle of a closed account stays out of reach.
    package var handleRest: Interval = .days(30)

    /// The product's numbers.
    package init() {}
}
