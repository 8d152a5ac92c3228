import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit

/// A running chromedriver: opens browsers and passes commands on (https://www.w3.org/TR/webdriver2).
public final class WebDriver: Sendable {
    /// It refused a command.
    public struct Refused: Error, CustomStringConvertible {
        /// As in the specification: `no such element`, `javascript error`.
        public let code: String
        public let description: String
    }

    private let process: ChildProcess
    private let http: HTTPClient
    private let url: String

    private init(process: ChildProcess, http: HTTPClient, url: String) {
        (self.process, self.http, self.url) = (process, http, url)
    }

    /// Runs `body` with a driver of its own, and ends it and its browsers afterwards.
    public static func with<Result: Sendable>(_ body: (WebDriver) async throws -> Result) async throws -> Result {
        let http = EdgeClient.connections()
        // Debian's package `chromium-driver`; deploy/install.sh installs it.
        let process = try await ChildProcess.start("/usr/bin/env", ["chromedriver", "--port=0"], name: "chromedriver")
        do {
            let line = try await process.waitForLine(containing: "started successfully on port").text
            let port = line.split(separator: " ").last.map { $0.trimmingCharacters(in: .punctuationCharacters) } ?? ""
            let result = try await body(
                WebDriver(process: process, http: http, url: "http://127.0.0.1:\(port)"))
            await process.end()
            try? await http.shutdown()
            return result
        } catch {
            await process.end()
            try? await http.shutdown()
            throw error
        }
    }

    /// Sends a command and returns its value.
    func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        var request = HTTPClientRequest(url: url + path)
        request.method = .RAW(value: method)
        if let body { request.body = .bytes(Array("\(body)".utf8)) }
        let response = try await http.execute(request, timeout: .seconds(150))
        let value = try JSON(parsing: String(buffer: try await response.body.collect(upTo: 64 << 20)))["value"]
        if let code = value["error"].string {
            throw Refused(code: code, description: "\(method) \(path): \(code): \(value["message"].string ?? "")")
        }
        return value
    }
}
