import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// The part of session's tables that a batch of commands touches.
package struct SessionRows: Equatable, Sendable {
    package var limits: SessionLimits
    package var credentials = WorkingSet<AccountID, CredentialRow>()
    package var phoneCodes = WorkingSet<PhoneCodeKey, PhoneCodeRow>()
    package var recoveries = WorkingSet<AccountID, RecoveryRow>()
    /// Security changes that can still be undone.
    package var securityChanges = WorkingSet<SecurityChangeKey, SecurityChangeRow>()
    package var attempts = WorkingSet<AttemptKey, AttemptsRow>()
    /// Recent and complete uploads that the batch's commands name.
    package var uploads: [UploadKey: Upload] = [:]
    /// Uploaded chunks that the batch's commands adopt.
    package var uploadedChunks: [UploadedChunkKey: UploadedChunk] = [:]
    package var groups = GroupRows()
    /// Check-ins that wait to be handled, of accounts whose timers decide that one was missed.
    package var waitingCheckIns: [AccountID: WaitingCommand] = [:]
    /// What ends or moves trips and waits to be handled, of accounts whose timers decide that one was missed.
    package var waitingTrips: [AccountID: WaitingCommand] = [:]
    /// The database's clock when they were loaded, if it matters.
    package var clock: Instant?
    /// The zones of daily times.
    package var zones = ZoneBook()
    /// Accounts whose timer came early, and is set again though nothing of them changed.
    package var woken: Set<AccountID> = []
    /// Accounts, including closed ones: an id is never used again.
    private var accounts = WorkingSet<AccountID, AccountRow>()
    /// Includes some that are signed out.
    private var devices = WorkingSet<DeviceKey, DeviceRow>()
    /// Owners of handles, by what the handle looks like.
    private var skeletons: [String: AccountID] = [:]
    private var phoneOwners: [PhoneID: AccountID] = [:]
    /// Owners of phones by number. One number has a different ``PhoneID`` under each server key.
    private var numberOwners: [String: AccountID] = [:]
    /// The ids that each account has in ``devices``.
    private var deviceIDs: [AccountID: Set<DeviceID>] = [:]

    package init(limits: SessionLimits = SessionLimits()) {
        self.limits = limits
    }

    /// The time by the database's clock, of which the rules' time may be far ahead after a failover. Where the clock isn't needed, it is
    /// when the command was recorded.
    func now(_ context: CommandContext) -> Instant { min(clock ?? context.recordedAt, context.time) }

    // MARK: Loading and saving

    /// Loads an account from its table.
    package mutating func load(_ row: AccountRow, at account: AccountID) {
        accounts.load(row, at: account)
        if let handle = row.handle { skeletons[handle.skeleton] = account }
        if let phone = row.phoneID { phoneOwners[phone] = account }
        if let phone = row.phone { numberOwners[phone.number] = account }
    }

    /// Loads a device from its table.
    package mutating func load(_ row: DeviceRow, at key: DeviceKey) {
        devices.load(row, at: key)
        deviceIDs[key.account, default: []].insert(key.device)
    }

    /// The zones of the daily times that were loaded.
    package var chosenZones: Set<String> { Set(accounts.keys.compactMap { accounts[$0]?.checkIn.daily?.times.zone }) }

    package var accountChanges: WorkingSet<AccountID, AccountRow>.Changes { accounts.changes }
    package var deviceChanges: WorkingSet<DeviceKey, DeviceRow>.Changes { devices.changes }

    // MARK: Reading and changing

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

    package subscript(account: AccountID, device: DeviceID) -> DeviceRow? {
        get { devices[DeviceKey(account, device)] }
        set {
            devices[DeviceKey(account, device)] = newValue
            if newValue == nil {
                deviceIDs[account]?.remove(device)
            } else {
                deviceIDs[account, default: []].insert(device)
            }
        }
    }

    /// The owner of the same handle or one that looks like it.
    package func owner(of handle: Handle) -> AccountID? { skeletons[handle.skeleton] }

    package func owner(of phone: PhoneID) -> AccountID? { phoneOwners[phone] }

    func owner(of phone: Phone) -> AccountID? { numberOwners[phone.number] }

    /// Sorted by id.
    func devices(of account: AccountID) -> [(id: DeviceID, row: DeviceRow)] {
        deviceIDs[account, default: []].sorted().compactMap { id in self[account, id].map { (id, $0) } }
    }

    /// Least recently seen first.
    func signedIn(_ account: AccountID) -> [(id: DeviceID, row: DeviceRow)] {
        devices(of: account).filter { $0.row.signedOut == nil }.sorted {
            ($0.row.lastSeen, $0.id) < ($1.row.lastSeen, $1.id)
        }
    }

    /// Oldest first.
    func securityChanges(of account: AccountID) -> [(key: SecurityChangeKey, row: SecurityChangeRow)] {
        securityChanges.keys.filter { $0.account == account }.sorted().compactMap { key in
            securityChanges[key].map { (key, $0) }
        }
    }

    /// Compares the rows alone, not how they were indexed.
    package static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.credentials == right.credentials
            && left.devices == right.devices && left.phoneCodes == right.phoneCodes && left.attempts == right.attempts
            && left.recoveries == right.recoveries && left.securityChanges == right.securityChanges
            && left.groups == right.groups
    }
}
