import Bus
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

extension SagaRunner {
    /// How old a request may be: ended sagas are remembered for a day longer.
    private static var horizon: Interval { .days(30) }
    /// How far ahead of the database's clock a request's time may be, as for commands.
    private static var aheadLimit: Interval { .days(1) }

    /// Starts a saga and waits for its end until the request's time is up and its task is cancelled.
    /// - Returns: Nil if no time is left to know. It is running at least.
    /// - Throws: A `Rejection` when the id was used for something else, or is too old to know, or if the saga was rejected.
    func run(
        _ saga: some Saga, id: ID<OperationSubject>, for account: AccountID, _ call: Call
    ) async throws -> SagaRecord? {
        let ending = try await start(saga, id: id, for: account, call)
        var record = await ending?.record
        do {
            if record == nil {
                try await wait(for: id, of: account)
                record = try await table.record(of: id, for: account)
            }
        } catch  where Task.isCancelled {
            return nil
        }
        if let rejection = try record?.rejection { throw rejection }
        return record
    }

    /// Records a saga, once per id, and has it run: here, unless another of the account's is running or too many are in hand.
    /// - Returns: Its end, if it runs here.
    private func start(
        _ saga: some Saga, id: ID<OperationSubject>, for account: AccountID, _ call: Call
    ) async throws -> SagaEnding? {
        guard let made = id.time, made > call.arrival - Self.horizon else {
            throw Rejection(
                .idTooOld,
                "This Idempotency-Key is older than 30 days, so the request may have been done already. Check, then use a new key."
            )
        }
        guard made < call.arrival + Self.aheadLimit else {
            throw Rejection(
                .idTooOld, "This Idempotency-Key is from the future. Set the device's clock and use a new key.")
        }
        let (type, lane, body) = (Swift.type(of: saga).type, Swift.type(of: saga).lane, try saga.encoded())
        let hash = BodyHash(
            type: type, version: Swift.type(of: saga).version, key: .account(account), account: account, body: body)
        let claimed: @Sendable (Instant) -> ClaimedSaga = {
            ClaimedSaga(
                id: id, type: type, body: body, account: account, correlationID: call.correlationID,
                traceParent: call.traceParent, startedAt: $0, attempts: 1)
        }
        let hasPlace = takePlace()
        let begun: SagaWriter.Begun
        do {
            begun = try await writer.begin(
                SagaWriter.Beginning(
                    id: id, type: type, lane: lane, account: account, body: body, hash: hash,
                    correlationID: call.correlationID, traceParent: call.traceParent, isWanted: hasPlace)
            ) { begun in
                // The request is gone, and what it asked for is recorded.
                if case .own(let startedAt) = begun { self.adopt(claimed(startedAt)) }
            }
        } catch {
            if hasPlace { leavePlace() }
            throw error
        }
        guard case .own(let startedAt) = begun else {
            if hasPlace { leavePlace() }
            look()
            if case .known(let recorded) = begun {
                guard recorded == hash.id else {
                    throw Rejection(.idReused, "This Idempotency-Key was used for another request; use a new one.")
                }
                call.replay.note()
            }
            return nil
        }
        return run(claimed(startedAt))
    }

    /// Waits until a saga of the account has ended, whichever replica runs it.
    private func wait(for id: ID<OperationSubject>, of account: AccountID) async throws {
        let subscription = try await streams.subscribe(
            to: .account(account), from: nil,
            state: "SELECT to_json(s.state) FROM session_client.saga AS s WHERE s.id = \(id) AND s.account = \(account)"
        )
        guard case .snapshot(let state, _) = subscription.beginning, state == Array("\"running\"".utf8) else { return }
        // The one before it may have ended meanwhile, in a process that saw nothing wait behind it.
        look()
        while case .event(let message, _) = await subscription.next() {
            guard message.message.type == OperationEnded.type,
                let ended = try? OperationEnded.decoded(from: message.message.body)
            else { continue }
            if ended.operation == id { return }
            look()
        }
    }
}
