import Foundation
import QuartetAPI
import QuartetVocabulary

extension Requests {
    /// Starts an operation and waits until it has ended.
    func operation<Request: OperationRequest>(_ request: Request) async throws(QuartetError) -> Request.Result {
        try await time.call { () async throws(QuartetError) in try await followed(request) }
    }

    private func followed<Request: OperationRequest>(_ request: Request) async throws(QuartetError) -> Request.Result {
        var body = try await signedIn(.operation(Request.type), request)
        while true {
            let (id, state, result) = try Self.operation(body)
            switch state {
            case .running:
                do { try await time.sleep(time.now() + .seconds(1)) } catch { throw .cancelled }
                body = try await read(.operationState(id))
            case .done: return try Self.decoded(Request.Result.self, from: result ?? Array("{}".utf8))
            case .rejected, .failed:
                let code = result.flatMap { try? JSONMembers($0) }?.string("code").flatMap {
                    APIError.Code(rawValue: $0)
                }
                throw .refused(APIError(code ?? (state == .failed ? .failed : .refused)))
            }
        }
    }

    private static func operation(
        _ body: [UInt8]
    ) throws(QuartetError) -> (ID<OperationSubject>, OperationReply.State, result: [UInt8]?) {
        let reply = try decoded(OperationReply.self, from: body)
        return (reply.id, reply.state, (try? JSONMembers(body))?["result"])
    }
}
