import ContractSupport
import HTTPTypes
import Hummingbird
import NIOCore
import Postgres
import SessionContract
import Vocabulary

/// `POST /v1/operations/<Type>` starts what spans services; `GET` tells how it stands.
struct Operations: Sendable {
    let sagas: SagaRunner
    let pool: Pool

    func start(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let account = caller.account
        let type = try context.parameters.require("operation")
        let body = try await request.json(context)
        let saga: any Saga
        switch type {
        case ClearAllReceivedPings.type: saga = try ClearAllReceivedPings.decodedStrictly(from: body)
        case RespondToAllPingsOperation.type: saga = try RespondToAllPingsOperation.decodedStrictly(from: body)
        case CloseAccountOperation.type:
            _ = try Nothing.decodedStrictly(from: body)
            saga = CloseAccountOperation(by: caller.device)
        default:
            throw Problem(
                .notFound, "unknownOperation", "there is no operation \(type.prefix(100))", field: "operation")
        }
        let id: ID<SagaSubject> = try IdempotencyKey(of: request).derive("operation", account.bytes)
        switch try await sagas.run(saga, id: id, for: account, context) {
        case .rejected(let rejection): throw rejection
        // No time is left to read more.
        case .running where Task.isCancelled:
            return Self.running(id, try jsonText(["id": id.description, "type": type, "state": "running"]))
        case .running, .done, .failed: return try await answer(id, account)
        }
    }

    func get(_ request: Request, _ context: EdgeContext) async throws -> Response {
        try await answer(try context.id("operation", as: SagaSubject.self), try context.requireCaller().account)
    }

    func list(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let account = try context.requireCaller().account
        let json = try await pool.withConnection { database in
            try database.query("SELECT \(States.operations(account))").only?.decode(0, as: JSON.self).bytes
        }
        return .json(String(decoding: json ?? [], as: UTF8.self))
    }

    /// How an operation stands: 200 when it has ended, 202 while it runs. One of another account is as unknown as none.
    private func answer(_ id: ID<SagaSubject>, _ account: AccountID) async throws -> Response {
        let found = try await pool.withConnection { database in
            try database.query(
                """
                SELECT s.state, json_strip_nulls(json_build_object(
                           'id', s.id, 'type', s.type, 'state', s.state, 'result', s.result,
                           'started', (extract(epoch FROM s.started_at) * 1000000)::bigint,
                           'ended', (extract(epoch FROM s.ended_at) * 1000000)::bigint))
                  FROM session_client.saga AS s
                 WHERE s.id = \(id) AND s.account = \(account)
                """
            ).only.map { (try $0.decode(0, as: String.self), try $0.decode(1, as: JSON.self).bytes) }
        }
        guard let (state, json) = found else {
            throw Problem(.notFound, "notFound", "there is no such operation of yours", field: "operation")
        }
        let text = String(decoding: json, as: UTF8.self)
        return state == "running" ? Self.running(id, text) : .json(text)
    }

    private static func running(_ id: ID<SagaSubject>, _ json: String) -> Response {
        var response = Response.json(json, status: .accepted)
        response.headers[.location] = "/v1/operations/\(id)"
        response.headers[.retryAfter] = "1"
        return response
    }
}
