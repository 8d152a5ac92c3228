import GRPCCore
import GRPCProtobuf
import QuartetAPI
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Refusals over gRPC")
struct RPCErrorTests {
    @Test("every code has its status of gRPC, and its details say the code, the field and when to try again (R15)")
    func codes() throws {
        for code in APIError.Code.allCases {
            let error = APIError(code, field: "name", retryAfter: 3).rpcError
            #expect(error.code.rawValue == code.grpcStatus.rawValue, "\(code)")
            let status = try #require(try error.unpackGoogleRPCStatus())
            #expect(status.code == error.code && status.message == code.sentence)
            #expect(status.details.compactMap(\.errorInfo).map(\.reason) == [code.rawValue])
            #expect(status.details.compactMap(\.badRequest).flatMap(\.violations).map(\.field) == ["name"])
            #expect(status.details.compactMap(\.retryInfo).map(\.delay) == [.seconds(3)])
        }
    }

    @Test("a refusal says the key to ask again with, and the present state if it is small enough for trailers (T26)")
    func details() throws {
        var error = APIError(.noOutcomeYet)
        let key = ID<RequestSubject>.new()
        error.key = key
        #expect(error.rpcError.metadata[stringValues: "idempotency-key"].map(\.self) == [key.description])
        var stale = APIError(.staleVersion)
        stale.details = ["version": 3]
        for (size, isTold) in [(100, true), (60_000, false)] {
            stale.current = Array(#"{"a":"\#(String(repeating: "a", count: size))"}"#.utf8)
            let info = try #require(
                try stale.rpcError.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo).first)
            #expect((info.metadata["current"] != nil) == isTold)
            #expect(info.metadata["details"] == #"{"version":3}"#)
        }
    }
}
