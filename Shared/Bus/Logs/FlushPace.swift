/// How far flushes keep from each other: a quarter of the time that commands take now, from when they are queued to when their
/// outcome is heard.
///
/// Each flush is followed by transactions of its reader and of those who hear of the effects. When the machine is busy, fewer and
/// larger ones answer more commands in less time. At rest the distance is shorter than a command's way there and back, so that
/// whoever sends one command after the other never waits.
struct FlushPace: Sendable {
    /// However long commands take.
    static let limit: Duration = .milliseconds(10)
    /// A shorter one isn't worth a timer.
    static let least: Duration = .milliseconds(1)

    private var usual: Duration = .zero

    mutating func answered(after time: Duration) {
        // Of about the latest thirty.
        usual += (min(time, Self.limit * 8) - usual) / 32
    }

    var distance: Duration {
        let quarter = min(usual / 4, Self.limit)
        return quarter < Self.least ? .zero : quarter
    }
}
