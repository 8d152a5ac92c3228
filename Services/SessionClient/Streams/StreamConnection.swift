import Bus
import ContactsContract
import Foundation
import Hummingbird
import Logging
import NIOCore
import Postgres
import ServiceLifecycle
import SessionContract
import Vocabulary

/// One connection's streams, until the app leaves or doesn't read, its token ends, its device is signed out or the process
/// ends.
struct StreamConnection: Sendable {
    let caller: Caller
    let tokens: StreamTokens
    let sources: [StreamSource]
    let people: PeopleSource
    let devices: Devices
    let writeDeadline: Duration
    let logger: Logger
    private let outlet = StreamOutlet(room: 256)
    private static let heartbeat: Duration = .seconds(15)

    init(
        caller: Caller, tokens: StreamTokens, sources: [StreamSource], people: PeopleSource, devices: Devices,
        writeDeadline: Duration, logger: Logger
    ) {
        self.caller = caller
        self.tokens = tokens
        self.sources = sources
        self.people = people
        self.devices = devices
        self.writeDeadline = writeDeadline
        self.logger = logger
    }

    /// The app has closed the connection.
    func leave() { outlet.putNow(.left) }

    /// Writes until it is over.
    /// - Throws: ``StreamWriter/Stuck`` when the app doesn't read; what `write` throws.
    func run(write: @Sendable @escaping (ByteBuffer) async throws -> Void) async throws {
        let writer = StreamWriter(outlet, after: tokens, deadline: writeDeadline, write: write)
        let stopWatching = devices.watch(caller) { outlet.end($0) }
        defer { stopWatching() }
        // It may have been signed out before anybody watched.
        if try await !devices.isActive(caller) {
            outlet.end(.signedOut(try await devices.reason(for: caller)))
        }
        let view = PeopleView(people)
        defer { view.end() }
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: IsOver.self) { group in
                for stream in sources {
                    group.addTask { await endOnError { try await follow(stream, stream.hasContacts ? view : nil) } }
                }
                group.addTask { await endOnError { try await view.show(outlet) } }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.heartbeat)
                        outlet.putNow(.heartbeat)
                    }
                }
                group.addTask {
                    try await Task.sleep(until: caller.expiresAt, clock: .continuous)
                    outlet.end(.tokenExpired)
                    return .no
                }
                group.addTask {
                    try await writer.run()
                    return .yes
                }
                group.addTask { try await writer.watch() }
                group.addTask {
                    await outlet.waitForEnd()
                    try await Task.sleep(for: StreamWriter.endDeadline)
                    throw StreamWriter.Stuck()
                }
                let result: Result<Void, any Error>
                do {
                    while try await group.next() == .no {}
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                await outlet.close()
                group.cancelAll()
                try result.get()
            }
        } onGracefulShutdown: {
            outlet.end(.serverStopping)
        }
    }

    /// Whether the end of one part ends the connection.
    private enum IsOver {
        case yes, no
    }

    /// A part that can't go on ends the whole: an app that reconnects is better off than one that waits for ever.
    private func endOnError(_ body: () async throws -> Void) async -> IsOver {
        do { try await body() } catch {
            guard !Task.isCancelled else { return .no }
            logger.error("a stream can't go on", metadata: ["error": "\(error)"])
            outlet.end(.serverError)
        }
        return .no
    }

    // MARK: Following

    /// - Parameter view: the connection's people, for the contacts stream.
    private func follow(_ stream: StreamSource, _ view: PeopleView?) async throws {
        var token = tokens[stream.name]
        while !Task.isCancelled {
            let subscription = try await join(stream, from: token, withState: view != nil)
            token = subscription.token
            switch subscription.beginning {
            case .resumed: await outlet.put(.resumed(stream.name))
            case .snapshot(let body, let isRefetched):
                await outlet.put(.snapshot(stream.name, body, isRefetched: isRefetched, token))
            }
            var contacts = try view.map { try people($0, in: subscription) }
            await end(contacts?.begin())
            events: while let element = await subscription.next() {
                guard case .event(let recorded, let next) = element else { break events }
                let message = recorded.message
                if contacts != nil {
                    let event = try ContactsEvent(type: message.type, version: message.version, body: message.body)
                    await end(contacts?.takeIn(event, at: recorded.position))
                }
                token = next
                await outlet.put(.event(stream.name, recorded, next))
            }
        }
    }

    /// Joins a stream, retrying until the database can do it. Meanwhile the stream waits; nothing in it is lost.
    private func join(
        _ stream: StreamSource, from token: ResumeToken?, withState: Bool
    ) async throws -> Subscription {
        var attempt = 0
        while true {
            do {
                return try await stream.reader.subscribe(
                    to: .account(caller.account), from: token, withState: withState, state: stream.state(caller.account)
                )
            } catch  where StreamReader.isPassing(error) && !Task.isCancelled {
                attempt += 1
                logger.info("a stream waits for the database", metadata: ["error": "\(error)"])
                try await Task.sleep(for: Backoff.joining.delay(attempt: attempt))
            }
        }
    }

    private func people(_ view: PeopleView, in subscription: Subscription) throws -> PeopleInContacts {
        let contacts = try subscription.state.map { try JSONDecoder().decode(ContactsState.self, from: Data($0.body)) }
        return PeopleInContacts(
            view, contacts ?? ContactsState(account: caller.account), at: subscription.state?.position ?? .start)
    }

    /// Ends these people's cards, ahead of the event that ended the relation: an app that loses the connection in between
    /// gets both again.
    private func end(_ people: [AccountID]?) async {
        for account in people ?? [] { await outlet.put(.personEnded(account)) }
    }
}

extension Backoff {
    /// Retries of joining a stream while the database is away or busy, spread by jitter.
    static let joining = Backoff(initial: .milliseconds(200), maximum: .seconds(5), multiplier: 2)
}
