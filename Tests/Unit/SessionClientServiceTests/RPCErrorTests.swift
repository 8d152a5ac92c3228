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

    @Test("a call keeps one trace, its own if it is valid, however often it is asked for (T24)")
    func trace() {
        let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let kept = CallTrace(["traceparent": .string(own)])
        #expect(kept.parent == own && kept.parent == own)
        for metadata in [[:], ["traceparent": "00-4bf9"]] as [Metadata] {
            let (first, second) = (CallTrace(metadata), CallTrace(metadata))
            #expect(first.parent.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil)
            #expect(first.parent == first.parent && first.parent != second.parent)
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
