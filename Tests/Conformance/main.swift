import EdgeClient
import Foundation
import GRPCNIOTransportHTTP2Posix
import QuartetAsyncHTTP
import QuartetClient
import QuartetGRPC
import QuartetVocabulary
import RPCClient

// Plays one list of scenarios against a running server over each transport, and compares what is answered and seen.

let help = """
    Usage: quartet-conformance [URL [PORT]]
           quartet-conformance --version

    URL is that of the HTTP API (http://127.0.0.1:8080), PORT that of the gRPC API on this machine (8090). It signs up people of
    its own. Prints a line for each scenario; exit status 1 if one doesn't come out the same. VERBOSE=1 prints the answers.
    Many passwords and codes are guessed wrong from here, so start the server with GUESSES_PER_MINUTE=10000.

    Played over HTTP and gRPC as their descriptions have them, and over the transports of the package for apps. What these can't
    carry goes over HTTP, and is said at the end. The package's in-process transport isn't played: it is a world of its own inside a
    test, and has none of the reads that scenarios begin with.
    """
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains(where: ["--help", "-h", "help"].contains) {
    print(help)
    exit(0)
}
if arguments.contains("--version") {
    print("quartet-conformance \(Release.version)")
    exit(0)
}
guard arguments.count <= 2, let port = UInt16(arguments.dropFirst().first ?? "8090"),
    let url = URL(string: arguments.first ?? "http://127.0.0.1:8080")
else {
    FileHandle.standardError.write(Data((help + "\n").utf8))
    exit(64)
}
let isVerbose = ProcessInfo.processInfo.environment["VERBOSE"] != nil
// Each stream takes a connection.
let connections = EdgeClient.connections()

do {
    let address = url.absoluteString
    let edge = EdgeClient(http: connections) { address }
    let http = try await HTTPCarrier(edge)
    let failures = try await RPCClient.with(port: port) { rpc in
        let grpc = try GRPCTransport(host: "127.0.0.1", port: Int(port), security: .plaintext)
        let session = HTTPTransport(url)
        let auto = AutoTransport(LossyTransport(grpc), else: LossyTransport(session))
        let carriers: [any Carrier] = [
            http, RPCCarrier(rpc),
            TransportCarrier("HTTPTransport by URLSession", session, beside: http),
            TransportCarrier("HTTPTransport by AsyncHTTPClient", HTTPTransport(asyncHTTP: url), beside: http),
            TransportCarrier("GRPCTransport", grpc, beside: http),
            TransportCarrier("AutoTransport that loses its way each fourth time", auto, beside: http),
        ]
        var failures = 0
        for scenario in Scenario.all {
            let transcripts = await scenario.transcripts(over: carriers, beside: edge)
            let isWhole = !transcripts.joined().contains { $0.hasPrefix("it broke off") }
            let isSame = transcripts.allSatisfy { $0 == transcripts[0] }
            print("\(isSame && isWhole ? "same     " : "DIFFERENT") \(scenario.name): \(transcripts[0].count) answers")
            if isVerbose { for line in transcripts[0] { print("    \(line)") } }
            // Who waits at the other end of a pipe sees how far it is.
            fflush(nil)
            guard !isSame || !isWhole else { continue }
            failures += 1
            for (carrier, lines) in zip(carriers, transcripts) {
                for (number, line) in lines.enumerated()
                where line.hasPrefix("it broke off")
                    || transcripts.contains(where: { !$0.indices.contains(number) || $0[number] != line })
                {
                    print("    \(carrier.name) \(number + 1): \(line)")
                }
            }
        }
        for case let carrier as TransportCarrier in carriers where !carrier.leftOut.isEmpty {
            print("\(carrier.name) left to HTTP:")
            for line in carrier.leftOut { print("    \(line)") }
        }
        print("The package's in-process transport isn't played: see --help.")
        return failures
    }
    exit(failures == 0 ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("quartet-conformance: \(error)\n".utf8))
    exit(1)
}
