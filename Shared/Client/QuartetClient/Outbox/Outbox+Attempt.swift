import Foundation
import QuartetAPI
import QuartetVocabulary

extension Outbox {
    /// What an attempt came to.
    enum Attempted: Sendable {
        case decided(Result<CommandReply, QuartetError>)
        /// It is sent again, after a pause that the server may have asked for.
        /// - Parameter isShared: Whether others would fare no better now.
        case later(QuartetError, pause: Duration?, isShared: Bool)
        case signedOut
        /// The network in which it was sent is gone, and with it the answer. It is sent again at once.
        case lost
        case cancelled

        static let unreached = later(.willBeSentWhenOnline, pause: nil, isShared: true)
    }

    /// Sends an item once, unless the network changes meanwhile: what may have happened stays under its key. Whoever calls it has the
    /// item's lane.
    func attemptInOneNetwork(_ item: OutboxItem, _ requests: Requests) async -> Attempted {
        let changes = networks.subscribe(keeping: 1)
        return await withTaskGroup(of: Attempted?.self) { group in
            group.addTask { await self.attempt(item, requests) }
            group.addTask {
                for await _ in changes { return nil }
                return nil
            }
            var hasChanged = false
            while let verdict = await group.next() {
                group.cancelAll()
                guard let verdict else {
                    hasChanged = true
                    continue
                }
                if case .cancelled = verdict, hasChanged, !Task.isCancelled { return .lost }
                return verdict
            }
            return .cancelled
        }
    }

    private func attempt(_ item: OutboxItem, _ requests: Requests) async -> Attempted {
        guard let queue = queue(of: item) else { return .cancelled }
        do throws(QuartetError) {
            return try await attempt(item, queue, requests)
        } catch {
            // Nothing of this was decided by the server.
            return switch error {
            case .cancelled: .cancelled
            case .needsAuthentication: .signedOut
            case .notStored, .tokensUnavailable, .unreadable: .later(.willBeSentWhenOnline, pause: nil, isShared: false)
            default: .unreached
            }
        }
    }

    private func attempt(
        _ item: OutboxItem, _ queue: any EditQueue, _ requests: Requests
    ) async throws(QuartetError) -> Attempted {
        // Nobody's change goes out as somebody else's.
        guard item.account == requests.account else { return .cancelled }
        var (item, isRepeated) = (item, item.isSent)
        // As the device has it.
        var base = isRepeated ? item : nil
        // The server refused a key for its time.
        var isClockWrong = false
        // Somebody else may be quicker more than once, and the device's idea of the time be wrong.
        for _ in 0..<5 {
            let now = try await requests.serverTime()
            // What may have happened long ago shows in the state by now; sent now, it might happen late.
            let age = item.age(now, by: time)
            let deadline = time.now() + item.lifetime.duration - age.duration
            guard age <= item.lifetime,
                !isRepeated || item.key.id?.time.map({ now - $0 < Self.horizon }) ?? true
            else { return .decided(.failure(isRepeated ? .unknown : .expired)) }
            if !isRepeated {
                if item.body == nil {
                    do throws(QuartetError) {
                        item.body = Data(try queue.body(of: item, at: item.actedAtServer ?? now - age))
                    } catch {
                        return .decided(.failure(error))
                    }
                }
                // What is on the device says which key an urgent one has: sent again after a crash, it is known as the same.
                let acted = item.precedence == .urgent && !isClockWrong ? item.actedAtServer : nil
                _ = item.key.minted(at: acted ?? now)
            }
            // What waits for a token can't have left: it can still be taken back, and isn't written as sent.
            switch try await requests.readyForCommand() {
            case .network: return .unreached
            case .server(let error, _): return later(error)
            case nil: break
            }
            switch try await prepared(item, of: base) {
            case .done: base = item
            case .other(var stored) where stored.isSent && !stored.isOver:
                // Another process was quicker: the same is sent from here.
                stored.account = item.account
                (item, base, isRepeated) = (stored, stored, true)
                continue
            case .gone(let decision?) where OutboxDecision(decision)?.joined != nil:
                await takeInOthers(isCertain: true)
                return .cancelled
            case .other, .gone: return .cancelled
            case .behind: return await yieldToEarlier(item)
            }
            guard let key = item.key.id, let body = item.body else { return .cancelled }
            do throws(QuartetError) {
                switch try await requests.command(
                    item.command, Array(body), key: key, isRepeated: isRepeated, until: deadline)
                {
                case .success(let reply): return .decided(.success(reply))
                case .failure(.network(let mayHaveHappened)):
                    if !mayHaveHappened { await unsend(item) }
                    return .unreached
                case .failure(.server(let error, let mayHaveHappened)):
                    if !mayHaveHappened { await unsend(item) }
                    return later(error)
                }
            } catch .expired {
                return .decided(.failure(isRepeated ? .unknown : .expired))
            } catch .needsAuthentication where !isRepeated {
                // Nothing was sent, or nothing of it was taken: it can still be taken back.
                await unsend(item)
                throw .needsAuthentication
            } catch .tokensUnavailable(let why) where !isRepeated {
                await unsend(item)
                throw .tokensUnavailable(why)
            } catch .refused(let error) {
                if let older = Requests.older(body: Array(body), of: appCommands[item.command], refusedWith: error) {
                    // What may have happened already keeps its key: the server then says that it knows it, and does nothing.
                    if !isRepeated { item.key = RequestKey() }
                    item.body = Data(older)
                    continue
                }
                switch (error.code, error.verdict) {
                case (.staleVersion, _):
                    guard let newer = rebased(item, queue, error) else { return .decided(.failure(.refused(error))) }
                    (item, isRepeated) = (newer, false)
                // Signed in anew, this is another device, and the server adds that to some commands: what it has under the key stands.
                case (.idTooOld, _) where isRepeated, (.idReused, _) where isRepeated:
                    return .decided(.failure(.unknown))
                case (.idTooOld, _):
                    // The answer said the server's time.
                    isClockWrong = true
                    item = await renew(item)
                case (_, .ends): return .decided(.failure(.refused(error)))
                case (_, .staysUnderItsKey): return later(error)
                case (let code, .staysUnderNewKey):
                    // What a newer server says of an urgent one may pass, and its lifetime bounds it.
                    if code == .failed || (error.unknownCode != nil && item.precedence != .urgent) {
                        item.failures = (item.failures ?? 0) + 1
                    }
                    if item.failures ?? 0 >= Self.failureLimit { return .decided(.failure(.refused(error))) }
                    await renew(item)
                    return later(error)
                }
            }
        }
        return later(APIError(.staleVersion))
    }

    /// - Returns: The item for what the server has now; nil if the refusal stands.
    private func rebased(
        _ item: OutboxItem, _ queue: any EditQueue, _ error: APIError
    ) -> OutboxItem? {
        // What this version can't read, it can't base anything on.
        guard let current = error.current else { return nil }
        var item = item
        // Nothing goes out any more of calls that changed what somebody else changed as well: the others' go on.
        if let (rest, lost) = queue.split(item, basedOn: current) {
            (item.edit, item.parts) = (rest.edit, rest.parts)
            item.lost = .init(edit: lost, refusal: UnsentChange.Refusal(error))
            queue.show(item, insteadOf: nil)
        }
        guard let body = try? queue.body(of: item, basedOn: current) else { return nil }
        (item.key, item.body) = (RequestKey(), Data(body))
        return item
    }

    private func later(_ error: APIError) -> Attempted {
        .later(
            .serverError(error), pause: error.retryAfter.map { .seconds($0) },
            isShared: Self.sharedTrouble.contains(error.code))
    }

    /// What the server would answer to others of the account as well. Other limits are one command's own.
    private static let sharedTrouble: Set<APIError.Code> = [
        .overloaded, .databaseUnavailable, .serverStopping, .tooManyRequests, .tooManyCommands, .invalidToken,
    ]
}
