package import QuartetVocabulary
import TestKit
import Testing

/// A service's rules on one whole set of rows in memory, with the state of each stream as a reader folds it.
///
/// Every command is checked. An accepted one's events are in their streams and survive being encoded. A rejected one, or
/// one without events, leaves the rows as they were.
package struct RuleTrial<Rules: Reducer, Replica> where Rules.State: Equatable {
    /// What a service's rows and streams are like.
    package struct Service {
        /// A stream's state before its first event; nil for a stream that this trial doesn't follow.
        var state: (Key) -> Replica?
        var fold: (inout Replica, Rules.Event) -> Void
        /// Whether nothing may follow this event in its stream.
        var isLast: (Rules.Event) -> Bool
        /// Rows as they must be after a command without events, given those before it and those after it.
        var quiet: (_ command: any CommandBody, _ before: Rules.State, _ after: Rules.State) -> Rules.State
        /// What else must hold of an accepted command's events.
        var check: (_ asker: AccountID?, _ emissions: [Emission<Rules.Event>]) throws -> Void
        /// The key that a command is sent under.
        var key: (_ asker: AccountID?, _ command: any CommandBody) -> Key

        /// A service whose streams are accounts'.
        package init(
            state: @escaping (AccountID) -> Replica, fold: @escaping (inout Replica, Rules.Event) -> Void,
            isLast: @escaping (Rules.Event) -> Bool,
            quiet: @escaping (any CommandBody, Rules.State, Rules.State) -> Rules.State = { _, before, _ in before },
            check: @escaping (AccountID?, [Emission<Rules.Event>]) throws -> Void = { _, _ in }
        ) {
            self.init(
                stream: { $0.account.map(state) }, fold: fold, isLast: isLast, quiet: quiet, check: check,
                key: { asker, _ in .account(asker ?? AccountID(high: 0, low: 0)) })
        }

        package init(
            stream: @escaping (Key) -> Replica?, fold: @escaping (inout Replica, Rules.Event) -> Void,
            isLast: @escaping (Rules.Event) -> Bool,
            quiet: @escaping (any CommandBody, Rules.State, Rules.State) -> Rules.State,
            check: @escaping (AccountID?, [Emission<Rules.Event>]) throws -> Void,
            key: @escaping (AccountID?, any CommandBody) -> Key
        ) {
            (self.state, self.fold, self.isLast, self.quiet) = (stream, fold, isLast, quiet)
            (self.check, self.key) = (check, key)
        }
    }

    package typealias Ended = Result<[Emission<Rules.Event>], Rejection>

    package var rows: Rules.State
    package var time: Instant
    /// What readers have who folded each stream from its beginning.
    package private(set) var streams: [Key: Replica] = [:]
    /// All events in the order of the commands.
    package private(set) var log: [(at: Instant, event: Rules.Event)] = []
    /// All commands and how they ended.
    package private(set) var history: [(command: any CommandBody, context: CommandContext, ended: Ended)] = []
    private let service: Service
    private var ended: Set<Key> = []
    private var random: SeededRandom

    package init(
        _ rows: Rules.State, of service: Service, seed: UInt64,
        time: Instant = Instant(microseconds: 1_700_000_000_000_000)
    ) {
        (self.rows, self.service, self.time) = (rows, service, time)
        random = SeededRandom(seed: seed)
    }

    /// What readers have of accounts' streams.
    package var replicas: [AccountID: Replica] {
        streams.reduce(into: [:]) { replicas, stream in
            if let account = stream.key.account { replicas[account] = stream.value }
        }
    }

    /// A new id. The same seed gives the same ids.
    package mutating func id<Subject>() -> ID<Subject> { .derived(at: time, from: Array("\(random.next())".utf8)) }

    /// Lets time pass.
    package mutating func pass(_ interval: Interval) { time = time + interval }

    /// Sends a command and returns its events.
    /// - Parameter recordedAt: When it was appended, if it waited since.
    /// - Throws: the `Rejection`.
    @discardableResult
    package mutating func ask(
        _ account: AccountID?, _ body: any CommandBody, recordedAt: Instant? = nil
    ) throws -> [Rules.Event] {
        let before = rows
        let command = try Rules.Command(sent: body)
        let context = CommandContext(
            commandID: id(), account: account, key: service.key(account, body), time: time,
            recordedAt: recordedAt)
        let emissions: [Emission<Rules.Event>]
        do throws(Rejection) {
            emissions = try Rules.reduce(&rows, command, context)
            history.append((body, context, .success(emissions)))
        } catch {
            history.append((body, context, .failure(error)))
            try #require(rows == before, "a rejected command must leave the rows as they were")
            throw error
        }
        if emissions.isEmpty {
            try #require(rows == service.quiet(body, before, rows), "a command without events must change nothing")
        }
        try service.check(account, emissions)
        for emission in emissions {
            let stream = emission.key
            try #require(stream == emission.event.body.stream)
            try #require(!ended.contains(stream), "\(emission.event) came after its stream's end")
            try #require(try emission.event.body.encoded().count <= Message.bodyLimit)
            let read = try Rules.Event(published: emission.event)
            try #require(read == emission.event)
            if let beginning = service.state(stream) { service.fold(&streams[stream, default: beginning], read) }
            log.append((time, read))
            if service.isLast(read) { ended.insert(stream) }
        }
        return emissions.map(\.event)
    }

    /// Sends a command and returns the code it is rejected with; nil when it is accepted.
    package mutating func rejection(_ account: AccountID?, _ command: any CommandBody) throws -> Rejection.Code? {
        do {
            try ask(account, command)
            return nil
        } catch let rejection as Rejection {
            return rejection.code
        }
    }
}

extension Sequence where Element: MessageSet<any EventBody> {
    /// The first event's body.
    /// - Throws: `Unexpected` when the first event is of another type, or there is none.
    package func first<Body: EventBody>(
        as type: Body.Type, file: StaticString = #fileID, line: Int = #line
    ) throws -> Body {
        guard let body = first(where: { _ in true })?.body as? Body else {
            throw Unexpected(Array(self), file: file, line: line)
        }
        return body
    }
}
