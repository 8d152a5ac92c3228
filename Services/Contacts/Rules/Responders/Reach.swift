package import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

/// How many responders of an account hear of missed check-ins, and how many of them can be reached. Those who never read
/// that this is shown count as reachable.
package struct ResponderCounts: Equatable, Sendable {
    package var all: Int
    package var reachable: Int

    package init(all: Int = 0, reachable: Int = 0) {
        self.all = all
        self.reachable = reachable
    }

    package var reach: ResponderReach { all == 0 ? .nobody : reachable == 0 ? .unreachable : .reachable }
    /// What an account's stream says whose row doesn't: nobody had read anything before there was such a column.
    package var reachBefore: ResponderReach { all == 0 ? .nobody : .reachable }
}

extension ContactsReducer {
    static func reduce(_ rows: inout ContactsRows, _ command: ReachCommand, _ asker: Asker) -> [ContactsEvent] {
        switch command {
        case .recordReached: recordReached(&rows, asker)
        case .lapseReach: lapse(&rows, asker)
        case .restoreReach: restore(&rows, asker)
        case .settleResponderReach: return settle(&rows, asker)
        }
        // What changes for dependents follows from the rows.
        return []
    }

    private static func recordReached(_ rows: inout ContactsRows, _ asker: Asker) {
        setReached(&rows, asker.account, asker)
        guard var row = rows.accounts[asker.account], !row.isReachable, row.returns == nil else { return }
        row.returns = asker.time + asker.spread(over: rows.limits.returnSpread)
        rows.accounts[asker.account] = row
    }

    /// Notes that an account reads what Quartet says, and so can be reached for a while.
    static func setReached(_ rows: inout ContactsRows, _ account: AccountID, _ asker: Asker) {
        guard var row = rows.accounts[account] else { return }
        let atLeast = asker.time + rows.limits.reachWindow
        // A time that is late enough stays: the latest of several draws would say more of those with several devices.
        if let known = row.reachableUntil, known >= atLeast { return }
        row.reachableUntil = atLeast + asker.spread(over: rows.limits.reachSpread)
        rows.accounts[account] = row
    }

    private static func lapse(_ rows: inout ContactsRows, _ asker: Asker) {
        guard let until = rows.accounts[asker.account]?.reachableUntil, until <= asker.time else { return }
        rows.setReachable(false, asker.account)
    }

    private static func restore(_ rows: inout ContactsRows, _ asker: Asker) {
        guard let returns = rows.accounts[asker.account]?.returns, returns <= asker.time else { return }
        rows.accounts[asker.account]?.returns = nil
        rows.setReachable(true, asker.account)
    }

    private static func settle(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        let changed = updateResponderReach(&rows, asker, of: [asker.account])
        guard var row = rows.accounts[asker.account], let reach = row.responderReach, let since = row.unsettled,
            since + rows.limits.reachSettling <= asker.time
        else { return changed }
        row.settledReach = reach
        row.unsettled = nil
        rows.accounts[asker.account] = row
        let responders = rows.responders(countedOf: asker.account)?.all ?? 0
        return changed + [
            .responderReachSettled(
                .init(account: asker.account, reach: reach, responders: responders, at: asker.time))
        ]
    }

    /// Tells every account of which a command has changed whether its responders can be reached.
    static func updateResponderReach(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        updateResponderReach(&rows, asker, of: rows.takeUnsureReach())
    }

    private static func updateResponderReach(
        _ rows: inout ContactsRows, _ asker: Asker, of accounts: [AccountID]
    ) -> [ContactsEvent] {
        accounts.compactMap { account in
            // Nobody looks at a canary's.
            guard !account.isCanary else { return nil }
            let reach = (rows.responders(countedOf: account) ?? ResponderCounts()).reach
            guard var row = rows.accounts[account], row.closed == nil else { return nil }
            let before = row.responderReach ?? rows.responders(loadedOf: account).reachBefore
            guard reach != before else { return nil }
            row.responderReach = reach
            row.settledReach = row.settledReach ?? before
            // What goes back and forth is still said in time: it counts from when it first differed.
            row.unsettled = reach == row.settledReach ? nil : row.unsettled ?? asker.time
            rows.accounts[account] = row
            return .responderReachChanged(.init(account: account, reach: reach, at: asker.time))
        }
    }
}

extension ContactsReducer.Asker {
    /// A part of an interval that nobody can guess from outside: commands' ids are hashes of ids that nobody sees.
    fileprivate func spread(over interval: Interval) -> Interval {
        Interval(microseconds: Int64(command.low & 0x3FFF_FFFF_FFFF_FFFF) % max(interval.microseconds, 1))
    }
}

extension RelationRow.Side {
    /// Whether this account is told when the other misses a check-in.
    var hearsOfMissedCheckIns: Bool { iAmResponder && notifyOnMissedCheckIn }
}

extension ContactsRows.Selection {
    mutating func add(_ command: ReachCommand, of account: AccountID) {
        changed.insert(account)
        switch command {
        case .recordReached: break
        case .lapseReach, .restoreReach:
            spreading.insert(account)
            flipping.insert(account)
        case .settleResponderReach: counted.insert(account)
        }
    }
}
