import Crypto
import EdgeClient
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import TestKit

/// Takes pushes by HTTP, keeps them, and answers as a test wants it.
final class PushReceiver: Sendable {
    /// A push that came in.
    struct Received: Sendable {
        /// Its Idempotency-Key.
        let id: String
        let body: JSON
        /// Whether its signature is right.
        let isSigned: Bool
    }

    private static let key = "what both sides know"
    /// All of them, in order.
    let received = Observed<[Received]>([])
    /// While it is, pushes are taken but not answered.
    let isSilent = Observed(false)
    /// How long it takes to answer.
    let slowness = Observed(Duration.zero)
    private let status: @Sendable (Received, [Received]) -> Int
    private let port = Observed<Int?>(nil)

    /// - Parameter status: How a push is answered; all that were received are given, too, with this one.
    init(_ status: @escaping @Sendable (Received, [Received]) -> Int) {
        self.status = status
    }

    /// The environment in which notifications pushes to this receiver.
    var environment: [String: String] {
        ["PUSH_WEBHOOK_URL": "http://127.0.0.1:\(port.value ?? 9)/push", "PUSH_WEBHOOK_KEY": Self.key]
    }

    /// Listens while `body` runs.
    func listen(_ body: () async throws -> Void) async throws {
        var logger = Logger(label: "receiver")
        logger.logLevel = .error
        let router = Router()
        router.post("/push") { request, _ in
            var request = request
            let buffer = try await request.collectBody(upTo: 1 << 20)
            var headers: [String: String] = [:]
            for field in request.headers { headers[field.name.canonicalName] = field.value }
            let status = try self.take(headers, String(buffer: buffer))
            try await Task.sleep(for: self.slowness.value)
            try await self.isSilent.wait("the receiver to answer", within: .seconds(3600)) { $0 ? nil : true }
            return Response(status: HTTPResponse.Status(code: status))
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in self.port.update { $0 = channel.localAddress?.port } }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            try await port.wait("the receiver to listen") { $0 }
            try await body()
            group.cancelAll()
        }
    }

    private func take(_ headers: [String: String], _ body: String) throws -> Int {
        let push = Received(
            id: headers["idempotency-key"] ?? "", body: try JSON(parsing: body),
            isSigned: Self.isSigned(headers["quartet-signature"] ?? "", body))
        let all = received.update { all -> [Received] in
            all.append(push)
            return all
        }
        return status(push, all)
    }

    /// `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`
    private static func isSigned(_ signature: String, _ body: String) -> Bool {
        let parts = signature.split(separator: ",")
        guard parts.count == 2, parts[0].hasPrefix("t="), parts[1].hasPrefix("v1="),
            let time = Double(parts[0].dropFirst(2)), abs(time - Date().timeIntervalSince1970) < 60
        else { return false }
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(parts[0].dropFirst(2)).\(body)".utf8), using: SymmetricKey(data: Data(key.utf8)))
        return parts[1].dropFirst(3) == code.map { String(format: "%02x", $0) }.joined()
    }
}
