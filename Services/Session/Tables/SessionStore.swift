package import Bus
package import Postgres
package import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
import Storage

/// The tables of the schema `session`. Each is described once, in the file with its statements.
package enum Tables {}

/// Keeps accounts in the schema `session`.
///
/// Commands for an account have its key or, before someone has signed in, that of a handle or phone. So the account's
/// row is locked, in the order of the ids. The lock also protects its password and devices, which are read after it.
/// The locks of edge processes and of group sessions, taken after it, protect what belongs to these.
package struct SessionStore: TimedStore {
    package typealias Rules = SessionReducer

    private let limits: SessionLimits
    private let zones = ZoneCache()

    /// - Parameter limits: Overridden by those in `session.limits`.
    package init(limits: SessionLimits = SessionLimits()) {
        self.limits = limits
    }

    /// Takes one round trip; two where accounts or edge processes decide which group sessions are needed, or where a time zone is needed
    /// for the first time.
    package func load(_ requests: [Request<SessionCommand>], in pipeline: Pipeline) throws -> SessionRows {
        let touched = SessionRows.Selection(requests)
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
        let groups = try pipeline.loadGroups(touched, limits)
        let waitingCheckIns = pipeline.waitingCommands(Pipeline.checkIns, of: touched.missing)
        let waitingTrips = pipeline.waitingCommands(Pipeline.tripCommands, of: touched.missingTrips)
        let uploadedChunks = pipeline.uploadedChunks(touched.chunks)
        let settled = pipeline.limits()
        // By now all that is changed is locked.
        let clock = touched.isTimed ? pipeline.query("SELECT clock_timestamp()") : nil
        try pipeline.flush()

        var rows = SessionRows(limits: try settled.limits(besides: limits))
        for row in try clock.rowsIfAsked { rows.clock = try row.decode(0, as: Instant.self) }
        for (account, row) in try Tables.account.rows(of: accounts) { rows.load(row, at: account) }
        for (account, row) in try Tables.credential.rows(of: credentials) { rows.credentials.load(row, at: account) }
        for (key, row) in try Tables.device.rows(of: devices) { rows.load(row, at: key) }
        for (key, row) in try Tables.phoneCode.rows(of: codes) { rows.phoneCodes.load(row, at: key) }
        for (account, row) in try Tables.recovery.rows(of: recoveries) { rows.recoveries.load(row, at: account) }
        for (key, row) in try Tables.securityChange.rows(of: changes) { rows.securityChanges.load(row, at: key) }
        for (key, row) in try Tables.attempt.rows(of: attempts) { rows.attempts.load(row, at: key) }
        for row in try uploads.rowsIfAsked {
            let (key, upload) = try row.upload()
            rows.uploads[key] = upload
        }
        for row in try uploadedChunks.rowsIfAsked {
            let (key, chunk) = try row.uploadedChunk()
            rows.uploadedChunks[key] = chunk
        }
        rows.groups = try groups.rows()
        rows.waitingCheckIns = try waitingCheckIns.waitingCommands()
        rows.waitingTrips = try waitingTrips.waitingCommands()
        rows.zones = try zones.zones(touched.zones.union(rows.chosenZones), of: &rows.limits.zones, in: pipeline)
        return rows
    }

    package func wantedTimers(of keys: TimedKeys, in pipeline: Pipeline) throws -> [Key: [TimedCommand]] {
        let settled = pipeline.limits()
        let found = try pipeline.timedRows(keys)
        var rows = SessionRows(limits: try settled.limits(besides: limits))
        for (account, row) in found.accounts { rows.load(row, at: account) }
        rows.groups = found.groups
        rows.zones = try zones.zones(rows.chosenZones, of: &rows.limits.zones, in: pipeline)
        return Dictionary(
            uniqueKeysWithValues: found.keys.map { ($0, rows.wantedTimers(of: $0).map(TimedCommand.init)) })
    }

    /// Writes the changes: one statement for each table and kind of change.
    package func save(_ rows: SessionRows, in pipeline: Pipeline) throws {
        let accounts = rows.accountChanges
        try pipeline.save(accounts, in: Tables.account)
        try pipeline.setTimers(rows.changedTimers.mapValues { $0.map(TimedCommand.init) }, in: "session")
        try pipeline.save(rows.credentials.changes, in: Tables.credential)
        try pipeline.save(rows.deviceChanges, in: Tables.device)
        try pipeline.save(rows.phoneCodes.changes, in: Tables.phoneCode)
        try pipeline.save(rows.recoveries.changes, in: Tables.recovery)
        try pipeline.save(rows.securityChanges.changes, in: Tables.securityChange)
        // No lock protects these, and retention may have deleted one since it was read.
        let attempts = rows.attempts.changes
        pipeline.delete(attempts.deleted, from: Tables.attempt)
        try pipeline.upsert(attempts.inserted + attempts.updated.map { ($0.key, $0.row) }, in: Tables.attempt)
        pipeline.saveAvatars(of: accounts)
        try pipeline.save(rows.groups)
        pipeline.redact(accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key), in: "session")
    }
}
