public import QuartetVocabulary

extension Rejection.Code {
    public static let accountClosed: Self = "accountClosed"
    /// The service doesn't know the account yet.
    public static let accountNotFound: Self = "accountNotFound"
    public static let accountExists: Self = "accountExists"
    /// The command must be sent on behalf of an account.
    public static let accountRequired: Self = "accountRequired"
    /// What the command names doesn't exist, or doesn't belong to the asking account.
    public static let notFound: Self = "notFound"
    /// The command is based on an older version.
    public static let staleVersion: Self = "staleVersion"
    /// Something was done a moment ago. The message says how long to wait.
    public static let tooSoon: Self = "tooSoon"
    public static let limitReached: Self = "limitReached"
    /// The two accounts aren't contacts, or weren't when it was asked for.
    public static let notContact: Self = "notContact"
    /// The device is no longer signed in, or never was.
    public static let deviceSignedOut: Self = "deviceSignedOut"
    /// A timer's command came too early.
    public static let notDue: Self = "notDue"
    /// Too many wrong guesses or too many requests. The message says how long to wait.
    public static let tooManyAttempts: Self = "tooManyAttempts"
}

extension Rejection {
    /// The asking account, or the one that `field` names, is closed.
    public static func accountClosed(_ field: String? = nil) -> Self {
        Rejection(
            .accountClosed,
            field == nil
                ? "This account is closed; sign up for a new one."
                : "The account in \(field ?? "") is closed; choose another.", field: field)
    }

    /// The service doesn't know the account yet.
    public static func accountNotFound(_ field: String? = nil) -> Self {
        Rejection(
            .accountNotFound, "This account isn't known yet; open it first, or try again in a moment.", field: field)
    }

    public static let accountRequired = Rejection(.accountRequired, "Send this command on behalf of an account.")

    public static func staleVersion(expected: Int64, current: Int64) -> Self {
        Rejection(
            .staleVersion,
            "It has changed in the meantime (it is at version \(current), yours is \(expected)); read it again and repeat your change.",
            field: "expectedVersion", details: ["version": .integer(current)])
    }

    /// - Parameter what: What was done a moment ago, as in "You checked in".
    public static func tooSoon(_ what: String, left: Interval) -> Self {
        Rejection(.tooSoon, "\(what) a moment ago; wait \(left.inWords) and try again.", retryAfter: left)
    }
}

extension Rejection {
    /// - Parameter what: What there were too many of, as in "Too many wrong passwords".
    public static func tooManyAttempts(_ what: String, left: Interval, field: String? = nil) -> Self {
        Rejection(
            .tooManyAttempts, "\(what); wait \(left.inWords) and try again.", field: field, retryAfter: left)
    }
}

extension Interval {
    /// In words, with the two largest units, rounded up to a second: `4 minutes and 10 seconds`.
    public var inWords: String {
        let seconds = max(1, secondsRoundedUp)
        let parts = [
            (seconds / 86_400, "day"), (seconds / 3600 % 24, "hour"), (seconds / 60 % 60, "minute"),
            (seconds % 60, "second"),
        ]
        .filter { $0.0 > 0 }.prefix(2).map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        return parts.joined(separator: " and ")
    }
}
