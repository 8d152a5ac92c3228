import AsyncHTTPClient
import EdgeClient
import Foundation
import RPCClient

// Plays one list of scenarios against a running server over each transport, and compares what is answered and seen.

let help = """
    Usage: quartet-conformance [URL [PORT]]

    URL is that of the HTTP API (http://127.0.0.1:8080), PORT that of the gRPC API on this machine (8090). It signs up people of
    its own. Prints a line for each scenario; exit status 1 if one doesn't come out the same.
    """
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains(where: ["--help", "-h", "help"].contains) {
    print(help)
    exit(0)
}
guard arguments.count <= 2, let port = UInt16(arguments.dropFirst().first ?? "8090") else {
    FileHandle.standardError.write(Data((help + "\n").utf8))
    exit(64)
}
let url = arguments.first ?? "http://127.0.0.1:8080"
let isVerbose = ProcessInfo.processInfo.environment["VERBOSE"] != nil

/// What a scenario comes to over a carrier.
func transcript(of scenario: Scenario, over carrier: any Carrier, beside edge: EdgeClient) async -> [String] {
    let stage = Stage(carrier, beside: edge)
    defer { stage.clear() }
    do {
        try await scenario.play(stage)
        return stage.lines
    } catch {
        return stage.lines + ["it broke off: \(error)"]
    }
}

do {
    let edge = EdgeClient(http: .shared) { url }
    let http = try await HTTPCarrier(edge)
    let failures = try await RPCClient.with(port: port) { rpc in
        let carriers: [any Carrier] = [http, RPCCarrier(rpc: rpc)]
        var failures = 0
        for scenario in Scenario.all {
            var transcripts: [[String]] = []
            for carrier in carriers { transcripts.append(await transcript(of: scenario, over: carrier, beside: edge)) }
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
        return failures
    }
    exit(failures == 0 ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("quartet-conformance: \(error)\n".utf8))
    exit(1)
}
