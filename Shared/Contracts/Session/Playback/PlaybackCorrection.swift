public import QuartetVocabulary

/// How a client brings its player back to where the group is: without a jump if it can.
public enum PlaybackCorrection: Hashable, Sendable {
    /// Nobody would notice.
    case none
    /// Plays at this many thousandths of the group's rate, until it is back.
    case rate(thousandths: Int)
    /// Goes to where the group is.
    case seek

    /// What is less apart stays as it is.
    public static let tolerance = Interval(microseconds: 40_000)
    /// What is more apart is sought.
    public static let reach = Interval(microseconds: 1_500_000)
    /// The least time between two seeks.
    public static let rest: Interval = .seconds(10)

    /// - Parameters:
    ///   - lead: How far the player is ahead of the group; negative where it is behind.
    ///   - sinceSeek: How long ago the client corrected itself by a seek; nil if it never did.
    public init(lead: Interval, sinceSeek: Interval? = nil) {
        let distance = lead.microseconds.magnitude
        if distance < Self.tolerance.microseconds.magnitude {
            self = .none
        } else if distance <= Self.reach.microseconds.magnitude || sinceSeek.map({ $0 < Self.rest }) ?? false {
            self = .rate(thousandths: lead.microseconds > 0 ? 950 : 1050)
        } else {
            self = .seek
        }
    }
}
