import Foundation
import Glibc

/// How long each service takes from its start until it is ready, beside a first replica of its own.
extension ProductBenchmark {
    func starts(_ report: inout Report) async throws {
        let rounds = 5
        say("starting each service \(rounds) times")
        for (number, service) in Self.services.enumerated() {
            var times: [Double] = []
            for _ in 0..<rounds { times.append(try await timeToReady(service, number)) }
            let name = service.replacingOccurrences(of: "-", with: "_")
            report.add("start_to_ready_\(name)_ms", times.sorted().percentile(0.5), aim: "<= 300")
        }
    }

    private func timeToReady(_ service: String, _ number: Int) async throws -> Double {
        let second = port + 1 + Self.services.count
        let log = FileManager.default.temporaryDirectory.appending(path: "quartet-benchmark-\(service)-start.log")
        let begun = ContinuousClock.now
        let process = try server.start(
            service, ["run"] + Self.ports(of: number, from: second),
            environment: environment.merging(["DRAIN_TIME": "0s"]) { $1 }, log: log)
        defer { Self.end([service: process]) }
        while !Self.isReady(at: UInt16(second + 1 + number)) {
            guard process.isRunning, ContinuousClock.now - begun < .seconds(30) else {
                throw Failure("\(service) doesn't become ready; see \(log.path)")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        return (ContinuousClock.now - begun).milliseconds
    }

    /// By a socket of its own: a client for HTTP waits before it tries again where nothing listened.
    private static func isReady(at port: UInt16) -> Bool {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { return false }
        let request = "GET /health/ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        guard Glibc.send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count
        else { return false }
        let good = Array("HTTP/1.1 200".utf8)
        var answer = [UInt8](repeating: 0, count: good.count)
        return Glibc.recv(descriptor, &answer, answer.count, Int32(MSG_WAITALL)) == good.count
            && answer == good
    }
}
