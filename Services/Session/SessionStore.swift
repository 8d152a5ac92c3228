public import Bus
public import Postgres
public import SessionContract
public import Vocabulary
import WorkingSet

/// Keeps accounts in the schema `session`.
///
/// An account is asked under its own key and, by who isn't signed in yet, under its handle's or its phone's. So its row is locked, in
/// the order of the ids; the lock also keeps its password and devices, which are read after it.
public struct SessionStore: TimedStore {
    /// The rules whose tables these are.
    public typealias Rules = SessionReducer

    private let limits: SessionLimits

    /// - Parameter limits: The numbers in the rules, except those that `session.limits` has.
    public init(limits: SessionLimits = SessionLimits()) {
        self.limits = limits
    }

    /// Loads what the commands may look at, in one round trip.
    public func load(_ requests: [Request<SessionCommand>], in pipeline: Pipeline) throws -> SessionRows {
        let touched = Touched(requests)
        let accounts = pipeline.lockAccounts(
            touched.accounts, skeletons: touched.skeletons, phones: touched.signingPhones,
            changing: touched.changingPhone, undoing: touched.undoing)
        let signing = AccountSelection(
            accounts: touched.signing, skeletons: touched.provingSkeletons.union(touched.recoveringSkeletons),
            phones: touched.signingPhones)
        let securing = AccountSelection(accounts: touched.securing, skeletons: touched.recoveringSkeletons)
        let credentials = pipeline.credentials(
            of: AccountSelection(accounts: touched.proving, skeletons: touched.provingSkeletons))
        let devices = pipeline.devices(of: signing)
        let codes = pipeline.phoneCodes(
            of: AccountSelection(accounts: touched.coding, phones: touched.signingPhones))
        let recoveries = pipeline.recoveries(of: securing)
        let changes = pipeline.securityChanges(of: securing)
        let attempts = pipeline.attempts(touched.attempts)
        let uploads = pipeline.uploads(touched.uploads)
        let settled = pipeline.limits()
        try pipeline.flush()

        var rows = SessionRows(limits: try settled.limits(besides: limits))
        for row in try accounts.rowsIfAsked {
            rows.load(try row.account(), at: try row.decode(0, as: AccountID.self))
        }
        for row in try credentials.rowsIfAsked {
            let (account, key, hash) = try row.decode(AccountID.self, String.self, Bytes.self)
            rows.credentials.load(CredentialRow(key: try KeyVersion(stored: key), hash: hash.bytes), at: account)
        }
        for row in try devices.rowsIfAsked {
            let (account, device) = try row.decode(AccountID.self, DeviceID.self)
            rows.load(try row.device(), at: DevicePlace(account, device))
        }
        for row in try codes.rowsIfAsked {
            let (code, place) = try row.phoneCode()
            rows.phoneCodes.load(code, at: place)
        }
        for row in try recoveries.rowsIfAsked {
            rows.recoveries.load(try row.recovery(), at: try row.decode(0, as: AccountID.self))
        }
        for row in try changes.rowsIfAsked {
            let (change, place) = try row.securityChange()
            rows.securityChanges.load(change, at: place)
        }
        for row in try attempts.rowsIfAsked {
            let (attempts, place) = try row.attempts()
            rows.attempts.load(attempts, at: place)
        }
        for row in try uploads.rowsIfAsked {
            guard let (place, upload) = try row.upload() else { continue }
            rows.uploads[place] = upload
        }
        return rows
    }

    /// Reads accounts and says what each wants to be timed.
    public func wantedTimers(of keys: TimedKeys, in pipeline: Pipeline) throws -> [Key: [TimedCommand]] {
        let found: Pending? =
            switch keys {
            case .next(let limit, let key): pipeline.accounts(after: key?.account, limit: limit)
            case .locked(let keys):
                pipeline.lockAccounts(
                    Set(keys.compactMap(\.account)), skeletons: [], phones: [], changing: [], undoing: [])
            }
        let settled = pipeline.limits()
        try pipeline.flush()
        var rows = SessionRows(limits: try settled.limits(besides: limits))
        var accounts: [AccountID] = []
        for row in try found.rowsIfAsked {
            let account = try row.decode(0, as: AccountID.self)
            rows.load(try row.account(), at: account)
            accounts.append(account)
        }
        return Dictionary(
            uniqueKeysWithValues: accounts.map { (Key.account($0), rows.wantedTimers(of: $0).map(\.timed)) })
    }

    /// Writes what changed, a statement per table and kind of change.
    public func save(_ rows: SessionRows, in pipeline: Pipeline) throws {
        let accounts = rows.accountChanges
        try pipeline.save(accounts)
        let changed = accounts.updated.filter {
            ($0.row.checkIn, $0.row.alert, $0.row.closed, $0.row.handle, $0.row.oldestChange)
                != ($0.before.checkIn, $0.before.alert, $0.before.closed, $0.before.handle, $0.before.oldestChange)
        }
        let deciding = accounts.inserted.map(\.key) + changed.map(\.key)
        try pipeline.setTimers(
            Dictionary(
                uniqueKeysWithValues: deciding.map { account in
                    (Key.account(account), rows.wantedTimers(of: account).map(\.timed))
                }), in: "session")
        pipeline.save(rows.credentials.changes)
        pipeline.save(rows.deviceChanges)
        pipeline.save(rows.phoneCodes.changes)
        pipeline.save(rows.recoveries.changes)
        pipeline.save(rows.securityChanges.changes)
        pipeline.save(rows.attempts.changes)
        pipeline.saveAvatars(of: accounts)
        pipeline.redact(accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key), in: "session")
    }
}

extension Pending? {
    /// The rows of a statement that was queued; none for one that wasn't needed.
    var rowsIfAsked: [Row] {
        get throws { try self.map { Array(try $0.rows()) } ?? [] }
    }
}
