import GRPCCore
import GRPCProtobuf
import QuartetAPI
import QuartetContractSupport
import QuartetVocabulary
import SwiftProtobuf

extension APIError {
    /// How much of a refusal may go into a call's trailers: more than clients accept would hide the refusal.
    private static let detailLimit = 4096

    /// The refusal as gRPC has it: a status, and in its details (`google.rpc.Status`) the code, the field and when to try
    /// again.
    var rpcError: RPCError {
        var facts: [String: String] = [:]
        facts["field"] = field
        facts["reason"] = reason
        facts["retry"] = retry.rawValue
        facts["idempotencyKey"] = key?.description
        facts["details"] = details.flatMap { try? Encoded($0) }.map { String(decoding: $0.json, as: UTF8.self) }
        facts["current"] = current.map { String(decoding: $0, as: UTF8.self) }
        let size = facts.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        if size > Self.detailLimit { facts["current"] = nil }
        var details: [ErrorDetails] = [.errorInfo(reason: code.rawValue, domain: "quartet", metadata: facts)]
        if let field { details.append(.badRequest(violations: [.init(field: field, description: detail)])) }
        if let retryAfter { details.append(.retryInfo(delay: .seconds(retryAfter))) }
        var error = RPCError(GoogleRPCStatus(code: code.rpcCode, message: detail, details: details))
        if let key { error.metadata.addString(key.description, forKey: "idempotency-key") }
        return error
    }
}

extension APIError.Code {
    /// The code in an error's details, if it is one of ours.
    init?(of error: RPCError) {
        let status = try? error.unpackGoogleRPCStatus()
        guard let reason = status?.details.lazy.compactMap(\.errorInfo).first?.reason else { return nil }
        self.init(rawValue: reason)
    }

    var rpcCode: RPCError.Code {
        // Both lists are those of gRPC.
        Status.Code(rawValue: grpcStatus.rawValue).flatMap(RPCError.Code.init) ?? .unknown
    }
}
