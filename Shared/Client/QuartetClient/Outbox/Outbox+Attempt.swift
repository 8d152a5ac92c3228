import API
import Foundation
import Vocabulary

extension Outbox {
    /// What an attempt came to.
    enum Attempted: Sendable {
        case decided(Result<CommandReply, QuartetError>)
        /// It is sent again, after a pause that the server may have asked for.
        /// - Parameter isShared: Whether others would fare no better now.
        case later(QuartetError, pause: Duration?, isShared: Bool)
        case signedOut
        case cancelled

        static let unreached = later(.willBeSentWhenOnline, pause: nil, isShared: true)
    }

    /// Sends an item once. Whoever calls it has its lane.
    func attempt(_ item: OutboxItem, _ requests: Requests) async -> Attempted {
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
        var (item, isRepeated) = (item, item.isSent)
        // Somebody else may be quicker more than once, and the device's idea of the time be wrong.
        for _ in 0..<5 {
            let now = try await requests.serverTime()
            // What may have happened long ago shows in the state by now; sent now, it might happen late.
            guard item.age(now, by: time) <= item.lifetime,
                !isRepeated || item.key.id?.time.map({ now - $0 < Self.horizon }) ?? true
            else { return .decided(.failure(isRepeated ? .unknown : .expired)) }
            if !isRepeated {
                if item.body == nil {
                    do throws(QuartetError) { item.body = Data(try queue.body(of: item)) } catch {
                        return .decided(.failure(error))
                    }
                }
                _ = item.key.minted(at: now)
                guard try await prepared(item) else { return .cancelled }
            }
            guard let key = item.key.id, let body = item.body else { return .cancelled }
            do throws(QuartetError) {
                switch try await requests.command(item.command, Array(body), key: key, isRepeated: isRepeated) {
                case .success(let reply): return .decided(.success(reply))
                case .failure(.network(let mayHaveHappened)):
                    if !mayHaveHappened { await renew(item) }
                    return .unreached
                case .failure(.server(let error, _)): return later(error)
                }
            } catch .refused(let error) {
                switch (error.code, error.verdict) {
                case (.staleVersion, _):
                    guard let newer = rebased(item, queue, error) else { return .decided(.failure(.refused(error))) }
                    (item, isRepeated) = (newer, false)
                case (.idTooOld, _) where isRepeated: return .decided(.failure(.unknown))
                case (.idTooOld, _):
                    // The answer said the server's time.
                    (item.key, item.body) = (RequestKey(), nil)
                    await renew(item)
                case (_, .ends): return .decided(.failure(.refused(error)))
                case (_, .staysUnderItsKey): return later(error)
                case (let code, .staysUnderNewKey):
                    if code == .failed { item.failures = (item.failures ?? 0) + 1 }
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
        guard let current = error.current, let body = try? queue.body(of: item, basedOn: current) else { return nil }
        var item = item
        (item.key, item.body) = (RequestKey(), Data(body))
        return item
    }

    private func later(_ error: APIError) -> Attempted {
        let isOverload = [429, 503].contains(error.unknownCode?.status ?? error.code.httpStatus)
        return .later(
            .serverError(error), pause: error.retryAfter.map { .seconds($0) }, isShared: isOverload)
    }
}
