/// A command that a state wants to be sent at a given time, under the state's own key and on nobody's behalf.
package struct WantedTimer<Command: MessageSet<any CommandBody>>: Hashable, Sendable {
    /// Under one key there is at most one timer of each name.
    package let name: String
    package let due: Instant
    package let command: Command

    /// - Parameter part: Distinguishes timers of one type under one key.
    package init(_ command: Command, due: Instant, part: String? = nil) {
        let type = type(of: command.body).type
        name = part.map { "\(type)/\($0)" } ?? type
        self.due = due
        self.command = command
    }
}
