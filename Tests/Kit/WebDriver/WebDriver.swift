import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestKit

/// Opens browsers, by the chromedriver that all tests of this process share, and passes commands on to them
/// (https://www.w3.org/TR/webdriver2).
public final class WebDriver: Sendable {
    /// It refused a command.
    public struct Refused: Error, CustomStringConvertible {
        /// As in the specification: `no such element`, `javascript error`.
        public let code: String
        public let description: String
    }

    /// chromedriver ended each time that it was started.
    public struct NotStarted: Error, CustomStringConvertible {
        public let description: String
    }

    private let server: Server
    private let sessions = Mutex<[String]>([])

    private init(server: Server) {
        self.server = server
    }

    /// Runs `body`, and closes the browsers that it opened afterwards.
    public static func with<Result: Sendable>(_ body: (WebDriver) async throws -> Result) async throws -> Result {
        let driver = WebDriver(server: try await Server.shared.value)
        do {
            let result = try await body(driver)
            await driver.close()
            return result
        } catch {
            await driver.describe()
            await driver.close()
            throw error
        }
    }

    /// Prints what all its browsers show: what one waits for in vain is often another's doing.
    private func describe() async {
        for (place, session) in sessions.withLock({ $0 }).enumerated() {
            let script: JSON = ["script": "return location.pathname + '\\n' + document.body.innerText", "args": []]
            let page = try? await send("POST", "/session/\(session)/execute/sync", script)
            print("browser \(place + 1) shows \(page?.string ?? "nothing")")
        }
    }

    /// Opens a browser.
    /// - Returns: Its session's id.
    func open(_ capabilities: JSON) async throws -> String {
        let value = try await server.send("POST", "/session", ["capabilities": ["alwaysMatch": capabilities]])
        guard let session = value["sessionId"].string else { throw Unexpected(value) }
        sessions.withLock { $0.append(session) }
        return session
    }

    /// Sends a command and returns its value.
    func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        try await server.send(method, path, body)
    }

    private func close() async {
        for session in sessions.withLock({ $0 }) {
            // Not cancellable: a cancelled test must not leave browsers behind, either.
            await Task { [server] in _ = try? await server.send("DELETE", "/session/\(session)") }.value
        }
    }
}

extension WebDriver {
    /// A running chromedriver. It ends with the process that started it.
    private struct Server: Sendable {
        let process: ChildProcess
        let http: HTTPClient
        let url: String

        /// Started by the first that asks.
        static let shared = Task { try await start() }

        private static let attempts = 5

        /// Starts one on a port that is free. It takes a random one of IPv4, and ends if the same one of IPv6 is taken.
        private static func start() async throws -> Server {
            var failures: [String] = []
            while failures.count < attempts {
                // Debian's package `chromium-driver`; deploy/install.sh installs it.
                let process = try await ChildProcess.start(
                    "/usr/bin/env", ["chromedriver", "--port=0"], name: "chromedriver")
                do {
                    let line = try await process.waitForLine(containing: "started successfully on port").text
                    guard let word = line.split(separator: " ").last,
                        let port = UInt16(word.trimmingCharacters(in: .punctuationCharacters))
                    else { throw NotStarted(description: "no port in: \(line)") }
                    return Server(process: process, http: EdgeClient.connections(), url: "http://127.0.0.1:\(port)")
                } catch {
                    await process.end()
                    failures.append("\(error)")
                }
            }
            throw NotStarted(
                description: "chromedriver did not start, \(attempts) times:\n" + failures.joined(separator: "\n"))
        }

        func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
            var request = HTTPClientRequest(url: url + path)
            request.method = .RAW(value: method)
            if let body { request.body = .bytes(Array("\(body)".utf8)) }
            let response = try await http.execute(request, timeout: .seconds(270))
            let value = try JSON(parsing: String(buffer: try await response.body.collect(upTo: 64 << 20)))["value"]
            if let code = value["error"].string {
                throw Refused(code: code, description: "\(method) \(path): \(code): \(value["message"].string ?? "")")
            }
            return value
        }
    }
}
