/// The rest that work takes after each piece of which nobody waits for the next: in proportion to how long the piece took, so that
/// no more than a share of the database goes to it.
package struct Rest: Hashable, Sendable {
    /// How many times as long as the piece took.
    package let times: Double
    /// However long the piece took: that a server stood still is no reason to put off what comes next.
    package let longest: Duration

    package init(times: Double, longest: Duration) {
        self.times = times
        self.longest = longest
    }

    package func after(_ piece: Duration) -> Duration { min(piece * times, longest) }
}
