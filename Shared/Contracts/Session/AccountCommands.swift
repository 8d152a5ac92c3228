package import QuartetVocabulary

/// An account's profile and its end.
package enum AccountCommand: MessageSet {
    case updateProfile(UpdateProfile)
    case closeAccount(CloseAccount)
    case freeHandle(FreeHandle)
    case setCanary(SetCanary)

    package static let cases: Cases<Self> = [
        Case(Self.updateProfile), Case(Self.closeAccount), Case(Self.freeHandle), Case(Self.setCanary),
    ]

    package var body: any CommandBody {
        switch self {
        case .updateProfile(let body): body
        case .closeAccount(let body): body
        case .freeHandle(let body): body
        case .setCanary(let body): body
        }
    }
}

/// Closes the account. Its id is never used again; others may have its handle a month later. Sending it again changes
/// nothing.
///
/// Rejected: `confirmationRequired`. Result: ``AccountClosed``.
package struct CloseAccount: CommandBody {
    /// The asking device.
    package let by: DeviceID?

    package init(by: DeviceID? = nil) {
        self.by = by
    }
}

/// Frees the handle of an account that was closed a month ago. A timer sends this. A closed account emits no events, so
/// neither does this.
///
/// Rejected: `notDue`.
package struct FreeHandle: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Opens a canary, or sets how often it is missed. While its alarm is on, nothing changes. A canary has no events of its own, so
/// neither has this.
///
/// Rejected: `accountNotFound` for every account that isn't a canary's person.
package struct SetCanary: CommandBody {
    /// From one check-in to the next deadline. Nil lets it rest.
    package let interval: Interval?
    /// How long after it is opened, or wakes up, it is first missed; so that not all are missed at once.
    package let delay: Interval

    package init(interval: Interval?, delay: Interval) {
        self.interval = interval
        self.delay = delay
    }

    package func validate() throws(Rejection) {
        let intervals: ClosedRange<Interval> = .seconds(1) ... .days(1)
        guard interval.map(intervals.contains) ?? true, intervals.contains(delay) else {
            throw Rejection(.invalidField, "Choose an interval and a delay from a second to a day.", field: "interval")
        }
    }
}
