/// What a rule may know besides the state and the command: who asks, which command it is, and the time, all given.
public struct CommandContext: Hashable, Sendable {
    /// Which command it is.
    public let commandID: CommandID
    /// Who asks. Nil for what no account asks, such as a sign-up or a timer.
    public let account: AccountID?
    /// What keeps its order.
    public let key: Key
    /// The database's time, never less than that of any earlier command of the partition.
    public let time: Instant

    /// All its parts, as the properties describe them.
    public init(commandID: CommandID, account: AccountID?, key: Key, time: Instant) {
        self.commandID = commandID
        self.account = account
        self.key = key
        self.time = time
    }
}

/// A command as a store gets it, before anything is loaded: what is asked, by which account, under which key.
public struct Request<Command: Sendable>: Sendable {
    /// What is asked.
    public let command: Command
    /// What keeps its order.
    public let key: Key
    /// The account that asks; nil where none does.
    public let account: AccountID?

    /// All its parts, as the properties describe them.
    public init(_ command: Command, key: Key, account: AccountID?) {
        self.command = command
        self.key = key
        self.account = account
    }
}

/// An event together with the stream that it belongs to.
public struct Emission<Event: Hashable & Sendable>: Hashable, Sendable {
    /// What keeps its order.
    public let key: Key
    /// What happened.
    public let event: Event

    /// All its parts, as the properties describe them.
    public init(_ event: Event, key: Key) {
        self.event = event
        self.key = key
    }
}

extension Emission where Event: MessageSet<any EventBody> {
    /// In the stream of the event's account.
    public init(_ event: Event) {
        self.init(event, key: .account(event.account))
    }
}

/// The rule of a service: a pure function from state and command to events. No I/O, clock, randomness or logging.
public protocol Reducer {
    /// The rows that a batch of commands touches, loaded before and saved after.
    associatedtype State
    associatedtype Command: MessageSet<any CommandBody>
    associatedtype Event: MessageSet<any EventBody>

    /// Decides a command and changes the state accordingly. The first emission's body is the command's result.
    ///
    /// A rejected command leaves the state as it was: check everything first, then change.
    static func reduce(
        _ state: inout State, _ command: Command, _ context: CommandContext
    ) throws(Rejection) -> [Emission<Event>]
}
