/// What a rule may know besides the state and the command.
package struct CommandContext: Hashable, Sendable {
    package let commandID: CommandID
    /// The account that asks; nil if none does, as for a sign-up or a timer.
    package let account: AccountID?
    package let key: Key
    /// The database's time, never earlier than for the partition's last command.
    package let time: Instant
    /// When the command was appended to its log, by the database's clock: earlier than `time` by as long as it waited.
    package let recordedAt: Instant

    /// - Parameter recordedAt: Nil for a command that didn't wait.
    package init(
        commandID: CommandID, account: AccountID?, key: Key, time: Instant, recordedAt: Instant? = nil
    ) {
        self.commandID = commandID
        self.account = account
        self.key = key
        self.time = time
        self.recordedAt = recordedAt ?? time
    }
}

/// A command as a store sees it, before anything is loaded.
package struct Request<Command: Sendable>: Sendable {
    package let command: Command
    package let key: Key
    /// The account that asks; nil if none does.
    package let account: AccountID?

    package init(_ command: Command, key: Key, account: AccountID?) {
        self.command = command
        self.key = key
        self.account = account
    }
}

/// An event together with the stream that it belongs to.
package struct Emission<Event: Hashable & Sendable>: Hashable, Sendable {
    package let key: Key
    package let event: Event
    /// Whether the event's body is the command's result, even if it isn't the first one.
    package let isResult: Bool

    package init(_ event: Event, key: Key, isResult: Bool = false) {
        self.event = event
        self.key = key
        self.isResult = isResult
    }
}

extension Emission where Event: MessageSet<any EventBody> {
    /// In the stream that the event says.
    package init(_ event: Event, isResult: Bool = false) {
        self.init(event, key: event.body.stream, isResult: isResult)
    }
}

/// The rules of a service: a pure function from state and command to events, without I/O, clock, randomness or logging.
package protocol Reducer {
    /// The rows that a batch of commands concerns, loaded before and saved after.
    associatedtype State
    associatedtype Command: MessageSet<any CommandBody>
    associatedtype Event: MessageSet<any EventBody>

    /// Decides a command and changes the state accordingly. The command's result is the body of the emission that says so,
    /// or else of the first one.
    ///
    /// A rejected command must leave the state as it was: check everything first, then change.
    static func reduce(
        _ state: inout State, _ command: Command, _ context: CommandContext
    ) throws(Rejection) -> [Emission<Event>]
}
