import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

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
        case let request as RespondToAllPingsRequest: saga = RespondToAllPingsSaga(request)
        case is CloseAccountRequest: saga = CloseAccountSaga(by: caller.device)
        default: throw APIError(.unknownOperation, field: "operation")
        }
        let id = call.key.operationID(of: caller.account)
        guard let record = try await sagas.run(saga, id: id, for: caller.account, call) else {
            return OperationReply(id: id, type: type, state: .running)
        }
        return OperationReply(id: id, record)
    }

    /// How an operation stands. One of another account is as unknown as none.
    func get(_ id: ID<OperationSubject>, by caller: Caller) async throws -> OperationReply {
        guard let record = try await sagas.table.record(of: id, for: caller.account) else {
            throw APIError(.notFound, "You have no such operation.", field: "operation")
        }
        return OperationReply(id: id, record)
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

extension OperationReply {
    fileprivate init(id: ID<OperationSubject>, _ record: SagaRecord) {
        self.init(
            id: id, type: record.type, state: record.state, started: record.startedAt, ended: record.endedAt,
            result: record.result)
    }
}
