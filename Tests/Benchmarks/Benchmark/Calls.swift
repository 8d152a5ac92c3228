import EdgeClient
import RPCClient

/// The same command over HTTP and over gRPC, one at a time, in turns.
extension ProductBenchmark {
    func calls(_ report: inout Report) async throws {
        say("commands over HTTP and gRPC")
        let anna = try await Device.signUp("caller", at: edge)
        var waits: (http: [Double], grpc: [Double]) = ([], [])
        try await RPCClient.with(port: rpcPort) { rpc in
            for number in 0..<1000 {
                let body: JSON = ["isRequired": .bool(number.isMultiple(of: 2))]
                let begun = ContinuousClock.now
                _ = try await anna.act("SetContactApproval", body)
                let between = ContinuousClock.now
                _ = try await rpc.call("SetContactApproval", body, token: anna.token)
                waits.http.append((between - begun) / .milliseconds(1))
                waits.grpc.append((ContinuousClock.now - between) / .milliseconds(1))
            }
        }
        let (http, grpc) = (waits.http.sorted(), waits.grpc.sorted())
        report.add("http_unary_p50_ms", http.percentile(0.5))
        report.add("http_unary_p99_ms", http.percentile(0.99))
        report.add("grpc_unary_p50_ms", grpc.percentile(0.5), aim: "as HTTP")
        report.add("grpc_unary_p99_ms", grpc.percentile(0.99), aim: "as HTTP")
    }
}
