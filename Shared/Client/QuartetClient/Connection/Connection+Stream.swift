import Foundation
import QuartetAPI
import QuartetVocabulary
import Synchronization

extension Connection {
    func follow(_ opening: Int, until end: AsyncStream<Never>) async {
        for consumer in core.withLock({ $0.consumers }) { consumer.begins(opening) }
        let (begun, report) = AsyncStream<Begun>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup { group in
            group.addTask {
                let error = await self.stream(opening, report)
                guard !Task.isCancelled else { return }
                self.change { machine, now, _ in machine.ended(opening, error, now: now) }
            }
            group.addTask { for await _ in end {} }
            group.addTask { for await stream in begun { await self.extend(stream) } }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// A stream, and the token that lets it go on.
    private struct Begun: Sendable {
        let stream: StreamBegun
        let token: String
        let account: AccountID
    }

    /// Shows the server a newer token before the stream's ends, and again before that one ends. If it can't, the stream ends with its
    /// token and another one is opened.
    private func extend(_ begun: Begun) async {
        guard let transport, let tokens else { return }
        var (token, left) = (begun.token, Duration.seconds(begun.stream.expiresIn))
        do {
            while true {
                try await time.sleep(time.now() + left - min(AccessTokens.margin, left / 2))
                token = try await tokens.access(insteadOf: token, for: begun.account).token
                let body = try StreamTokenRequest(stream: begun.stream.stream).encoded()
                let reply = try await transport.send(TransportRequest(.streamToken, body: body, token: token))
                let next = try JSONDecoder().decode(StreamTokenReply.self, from: Data(try reply.result.get()))
                left = .seconds(next.expiresIn)
            }
        } catch {
            // Above.
        }
    }

    /// Opens the stream and reads it to its end.
    private func stream(
        _ opening: Int, _ report: AsyncStream<Begun>.Continuation
    ) async -> ConnectionError {
        guard let transport, let tokens else { return .closed }
        // A device that was locked at the start may not be by now: what it kept goes under what arrives.
        if store.account == nil { try? await restore() }
        var access: AccessTokens.Access?
        do {
            let account = store.account ?? store.unreadAccount
            var shown = try await tokens.access(for: account)
            access = shown
            let begun = delivery.withLock { _ in
                core.withLock { core -> (place: String?, groups: [GroupID])? in
                    // The next stream may be delivering already.
                    guard core.stops[opening] != nil else { return nil }
                    let groups = core.followed.keys.sorted { "\($0)" < "\($1)" }
                    return (core.sequencer.open(following: groups), groups)
                }
            }
            guard let (place, groups) = begun else { return .closed }
            let opened: OpenedStream
            do {
                opened = try await transport.open(StreamRequest(token: shown.token, place: place, groups: groups))
            } catch let error as APIError where error.code.retry == .refreshed {
                shown = try await tokens.access(insteadOf: shown.token, for: account)
                access = shown
                opened = try await transport.open(StreamRequest(token: shown.token, place: place, groups: groups))
            }
            clock.heard(opened.serverTime)
            let arrivals = StreamArrivals()
            return try await withThrowingTaskGroup(of: Void.self) { [items = opened.items, shown] group in
                group.addTask { await arrivals.collect(items) }
                defer { group.cancelAll() }
                return try await self.read(arrivals, opening, of: shown) {
                    report.yield(Begun(stream: $0, token: shown.token, account: shown.account))
                }
            }
        } catch let error as ConnectionError {
            return error
        } catch let error as TransportError {
            return .transport(error)
        } catch QuartetError.needsAuthentication {
            let error = await tokens.signOutError
            // In another process of the app somebody else may have signed in.
            try? await restore()
            return error
        } catch QuartetError.tokensUnavailable(let reason) {
            return .tokensUnavailable(reason)
        } catch QuartetError.refused(let error) {
            return error.code == .invalidToken ? .tokenRefused : .refused(error)
        } catch let error as APIError {
            if error.code == .malformedEventID { core.withLock { $0.sequencer.forgetAll() } }
            guard error.meansSignedOut else { return .refused(error) }
            if let access, (try? await signedOut(by: opening, access)) == false { return .tokenRefused }
            return .signedOut(error.reason.flatMap { .init(rawValue: $0) })
        } catch {
            return .transport(.malformed("\(error)"))
        }
    }

    private func read(
        _ arrivals: StreamArrivals, _ opening: Int, of access: AccessTokens.Access, begun: (StreamBegun) -> Void
    ) async throws -> ConnectionError {
        while let items = try await arrivals.next() {
            var rest = items[...]
            while let item = rest.first {
                let now = time.now()
                // Events of one sequence that came together are taken in together.
                let sequence = item.sequence
                let run =
                    sequence == nil ? rest.prefix(1) : rest.prefix(Self.runLimit).prefix { $0.sequence == sequence }
                rest = rest[run.endIndex...]
                switch item {
                case .heartbeat(let place):
                    let consumers = core.withLock { core in
                        core.lastHeard = now
                        if core.stops[opening] != nil { core.sequencer.reach(place) }
                        return core.consumers
                    }
                    let overdue = consumers.filter { $0.heartbeat() }.flatMap(\.sequences)
                    keepCopies(now, atOnce: true)
                    copies.retry()
                    outbox.retryRemoving()
                    for name in Set(overdue) { refetch(name) }
                case .event(.begun(let stream), _): begun(stream)
                case .event: try deliver(run, of: sequence, opening, now)
                case .end(let end):
                    guard end.reason == .signedOut else { return .ended(end.reason) }
                    guard try await signedOut(by: opening, access) else { return .tokenRefused }
                    return .signedOut(end.why)
                }
            }
        }
        return .closed
    }

    /// A stream says that the device isn't signed in any more. One that was closed may say so of an earlier sign-in.
    /// - Returns: False if somebody signed in since in another process of the app: the next attempt is theirs.
    private func signedOut(by opening: Int, _ access: AccessTokens.Access) async throws -> Bool {
        guard core.withLock({ $0.stops[opening] != nil }) else { throw CancellationError() }
        return try await tokens?.signedOut(access) ?? true
    }

    /// As many events are taken in together at most, so that readers don't wait for long.
    private static var runLimit: Int { 256 }

    /// Delivers events of one sequence that arrived together.
    private func deliver(_ run: ArraySlice<StreamItem>, of sequence: StreamName?, _ opening: Int, _ now: Duration)
        throws
    {
        let (events, failure, hasBegun) = try delivery.withLock { _ throws -> ([StreamEvent], ConnectionError?, Bool) in
            let (events, failure, consumers, hasBegun) = try core.withLock {
                core throws -> ([StreamEvent], ConnectionError?, [any StreamConsumer], Bool) in
                // A stream that was closed has nothing more to say: somebody else may have signed in.
                guard core.stops[opening] != nil else { throw CancellationError() }
                core.lastHeard = now
                let (events, failure) = core.sequencer.take(run)
                let hasBegun = failure == nil && core.sequencer.isLive && core.liveOpening != opening
                if hasBegun { core.liveOpening = opening }
                return (events, failure, core.consumers, hasBegun)
            }
            if let sequence, !events.isEmpty {
                for consumer in consumers where consumer.sequences.contains(sequence) {
                    do { try consumer.take(events, opening: opening) } catch {
                        core.withLock { $0.sequencer.forget(sequence) }
                        throw ConnectionError.outOfSequence(sequence)
                    }
                }
                core.withLock { _ = $0.unkept.insert(sequence) }
            }
            return (events, failure, hasBegun)
        }
        keepCopies(now, atOnce: hasBegun)
        for event in events {
            if case .snapshot(let name, let snapshot) = event, snapshot.isRefetched {
                eventReaders.send(.refetched(name))
            }
        }
        if let failure { throw failure }
        if hasBegun {
            change { machine, now, _ in machine.began(opening, now: now) }
            outbox.retry()
        }
    }

    /// Has the device keep the copies that changed, each at the place where it is.
    /// - Parameter atOnce: Otherwise, every two seconds.
    func keepCopies(_ now: Duration, atOnce: Bool) {
        guard let account = store.account else { return }
        let unfinished = atOnce ? outbox.unfinished : []
        let (heard, restored) = core.withLock { ($0.lastHeard, $0.restored) }
        let time = heard.map { clock.at($0) ?? self.time.wall() }
        delivery.withLock { _ in
            let changed = core.withLock { core -> [(StreamName, String, [any StreamConsumer])] in
                core.unkept.formUnion(core.consumers.flatMap(\.sequences).filter { unfinished.contains("\($0)") })
                guard !core.unkept.isEmpty, atOnce || now >= core.keptUntil else { return [] }
                core.keptUntil = now + .seconds(2)
                defer { core.unkept = [] }
                return core.unkept.filter { $0.group == nil }.compactMap { name in
                    core.sequencer.place(of: name).map { place in
                        (name, place, core.consumers.filter { $0.sequences.contains(name) })
                    }
                }
            }
            for (name, place, consumers) in changed {
                var encode: @Sendable () throws -> Data = { Data() }
                for consumer in consumers { encode = consumer.encodable ?? encode }
                copies.keep(
                    CopyKeeper.Pending(
                        account: account, sequence: "\(name)", place: place,
                        // A copy is no newer than what arrived last.
                        asOf: time ?? restored[name] ?? self.time.wall(), encode: encode,
                        finished: outbox.takeFinished(of: "\(name)")))
            }
        }
    }
}

extension StreamItem {
    /// The sequence whose copies take it in; nil if none does.
    fileprivate var sequence: StreamName? {
        if case .event(let event, _) = self { event.sequence } else { nil }
    }
}

extension StreamEvent {
    /// The sequence whose copies take it in; nil if none does. People belong to the contacts, the list of group sessions to the account.
    var sequence: StreamName? {
        switch self {
        case .snapshot(let name, _), .resumed(let name), .event(let name, _): name
        case .person, .personEnded: .contacts
        case .begun: nil
        case .groups: .account
        case .groupEnded(let ended): .group(ended.group)
        case .signal(let signal): .group(signal.group)
        }
    }
}
