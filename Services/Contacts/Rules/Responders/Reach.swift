package import ContactsContract
import ContractSupport
package import Vocabulary

/// How many responders an account has, and how many of them can be reached.
package struct ResponderCounts: Equatable, Sendable {
    package var all: Int
    package var reachable: Int

    package init(all: Int = 0, reachable: Int = 0) {
        self.all = all
        self.reachable = reachable
    }

    package var reach: ResponderReach { all == 0 ? .nobody : reachable == 0 ? .unreachable : .reachable }
}

extension ContactsReducer {
    static func reduce(_ rows: inout ContactsRows, _ command: ReachCommand, _ asker: Asker) -> [ContactsEvent] {
        switch command {
        case .recordReached: recordReached(&rows, asker)
        case .lapseReach: lapse(&rows, asker)
        case .settleResponderReach: settle(&rows, asker)
        }
    }

    static func recordReached(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        guard var row = rows.accounts[asker.account] else { return [] }
        row.reached = max(row.reached, asker.time)
        rows.accounts[asker.account] = row
        return setReachable(&rows, true, asker)
    }

    static func lapse(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        guard let row = rows.accounts[asker.account], row.reached + rows.limits.reachWindow <= asker.time else {
            return []
        }
        return setReachable(&rows, false, asker)
    }

    private static func setReachable(
        _ rows: inout ContactsRows, _ isReachable: Bool, _ asker: Asker
    ) -> [ContactsEvent] {
        guard rows.accounts[asker.account]?.isReachable != isReachable else { return [] }
        rows.setReachable(isReachable, asker.account)
        return [.reachabilityChanged(.init(account: asker.account, isReachable: isReachable, at: asker.time))]
    }

    static func settle(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        let changed = updateResponderReach(&rows, asker, of: [asker.account])
        guard var row = rows.accounts[asker.account], let since = row.unsettled,
            since + rows.limits.reachSettling <= asker.time
        else { return changed }
        row.settledReach = row.responderReach
        row.unsettled = nil
        rows.accounts[asker.account] = row
        let responders = rows.responders(countedOf: asker.account)?.all ?? 0
        return changed + [
            .responderReachSettled(
                .init(account: asker.account, reach: row.responderReach, responders: responders, at: asker.time))
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
            guard var row = rows.accounts[account], row.closed == nil, row.responderReach != reach else { return nil }
            row.responderReach = reach
            // What goes back and forth is still said in time: it counts from when it first differed.
            row.unsettled = reach == row.settledReach ? nil : row.unsettled ?? asker.time
            rows.accounts[account] = row
            return .responderReachChanged(.init(account: account, reach: reach, at: asker.time))
        }
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: ReachCommand, of account: AccountID) {
        changed.insert(account)
        switch command {
        case .recordReached:
            returning.insert(account)
            flipping.insert(account)
        case .lapseReach:
            spreading.insert(account)
            flipping.insert(account)
        case .settleResponderReach: counted.insert(account)
        }
    }
}
