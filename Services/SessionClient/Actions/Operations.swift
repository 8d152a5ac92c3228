import API
import Postgres
import SessionClientOrchestration
import Vocabulary

/// Operations: what spans services. Inside, each is a saga.
struct Operations: Sendable {
    let sagas: SagaRunner
    let pool: Pool

    /// - Parameter request: One of `appOperations`.
    func start(
        _ request: any OperationRequest, by caller: Caller, _ call: Call
    ) async throws -> OperationReply {
        let type = type(of: request).type
        let saga: any Saga
        switch request {
        case let request as ClearAllReceivedPingsRequest: saga = ClearAllReceivedPingsSaga(request)
        case is RespondToAllPingsRequest: saga = RespondToAllPingsSaga()
        case is CloseAccountRequest: saga = CloseAccountSaga(by: caller.device)
        default: throw APIError(.unknownOperation, field: "operation")
        }
        let id: ID<OperationSubject> = call.key.derive("operation", caller.account.bytes)
        switch try await sagas.run(saga, id: id, for: caller.account, call) {
        case .rejected(let rejection): throw rejection
        // No time is left to read more.
        case .running where Task.isCancelled: return OperationReply(id: id, type: type, state: .running)
        case .running, .done, .failed: return try await get(id, by: caller)
        }
    }

    /// How an operation stands. One of another account is as unknown as none.
    func get(_ id: ID<OperationSubject>, by caller: Caller) async throws -> OperationReply {
        let found = try await pool.withConnection { database in
            try database.query(
                """
                SELECT s.type, s.state, s.result, s.started_at, s.ended_at
                  FROM session_client.saga AS s
                 WHERE s.id = \(id) AND s.account = \(caller.account)
                """
            ).only.map {
                OperationReply(
                    id: id, type: try $0.decode(0, as: String.self),
                    state: .init(rawValue: try $0.decode(1, as: String.self)) ?? .failed,
                    started: try $0.decode(3, as: Instant.self), ended: try $0.decode(4, as: Instant?.self),
                    result: try $0.decode(2, as: JSON?.self)?.bytes)
            }
        }
        guard let found else {
            throw APIError(.notFound, "You have no such operation.", field: "operation")
        }
        return found
    }

    /// The newest operations of the caller.
    func list(limit: Int, by caller: Caller) async throws -> Encoded<OperationsPage> {
        let account = caller.account
        let json = try await pool.withConnection { database in
            try database.query(
                """
                SELECT json_build_object(
                           'account', s.state -> 'account',
                           'operations', (SELECT coalesce(json_agg(e.operation ORDER BY e.number), '[]')
                                            FROM json_array_elements(s.state -> 'operations') WITH ORDINALITY
                                                 AS e(operation, number)
                                           WHERE e.number <= \(Int64(limit))))
                  FROM (SELECT \(States.operations(account))) AS s(state)
                """
            ).only?.decode(0, as: JSON.self).bytes
        }
        return Encoded(json: json ?? [])
    }
}
