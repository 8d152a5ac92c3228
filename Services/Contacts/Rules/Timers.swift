package import QuartetContactsContract
package import QuartetVocabulary

extension ContactsRows {
    /// The timers that an account wants now. They follow from the state alone: as long as exactly these are set after
    /// each change, no one stays reachable who isn't, and no change goes unsaid.
    ///
    /// If the account's responders are counted and the stored reach isn't what follows from them, because a process of
    /// an earlier release changed a relation, a timer that is due at once mends it. A row without a stored reach says what
    /// follows from them.
    package func wantedTimers(of account: AccountID) -> [WantedTimer<ContactsCommand>] {
        guard let row = accounts[account], row.closed == nil, !account.isCanary else { return [] }
        var timers: [WantedTimer<ContactsCommand>] = []
        if row.isReachable, let until = row.reachableUntil {
            timers.append(WantedTimer(.reach(.lapseReach(.init(account: account))), due: until))
        }
        if let returns = row.returns {
            timers.append(WantedTimer(.reach(.restoreReach(.init(account: account))), due: returns))
        }
        let isStale = responders(countedOf: account).map { $0.reach != row.responderReach ?? $0.reachBefore } ?? false
        if let due = row.unsettled.map({ $0 + limits.reachSettling }) ?? (isStale ? Instant(microseconds: 0) : nil) {
            timers.append(WantedTimer(.reach(.settleResponderReach(.init(account: account))), due: due))
        }
        if let due = row.nextTier {
            timers.append(WantedTimer(.tier(.beginNextTier(.init(account: account, due: due))), due: due))
        }
        if let due = row.nextRenewal {
            timers.append(WantedTimer(.alarm(.askForRenewal(.init(account: account, due: due))), due: due))
        }
        if let due = row.nextPing {
            timers.append(WantedTimer(.pingEscalation(.judgePings(.init(account: account, due: due))), due: due))
        }
        return timers.sorted { $0.due < $1.due }
    }

    /// The timers of each account whose wanted timers may have changed.
    package var changedTimers: [Key: [WantedTimer<ContactsCommand>]] {
        let changes = accounts.changes
        let changed =
            changes.inserted.map(\.key)
            + changes.updated.filter { _, row, before in
                (row.reachableUntil, row.isReachable, row.returns, row.unsettled, row.closed)
                    != (before.reachableUntil, before.isReachable, before.returns, before.unsettled, before.closed)
                    || (row.nextTier, row.nextRenewal, row.nextPing)
                        != (before.nextTier, before.nextRenewal, before.nextPing)
            }.map(\.key)
        return Dictionary(uniqueKeysWithValues: changed.map { (.account($0), wantedTimers(of: $0)) })
    }
}
