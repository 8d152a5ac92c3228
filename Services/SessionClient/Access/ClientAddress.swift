import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Vocabulary

/// Where requests come from, as far as it can be known: the address of the connection or, behind proxies that are trusted,
/// the one that the outermost of them saw.
struct ClientAddress: Sendable {
    /// How many proxies stand in front of this process, each of which appends to `X-Forwarded-For`.
    let proxies: Int

    /// The address; of IPv6 the first 64 bits, since one customer usually has all of those.
    func address(of request: Request, _ context: EdgeContext) -> String {
        let connection = context.remoteAddress?.ipAddress ?? "unknown"
        guard proxies > 0, let header = request.headers[.forwardedFor] else { return Self.network(of: connection) }
        let hops = header.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        // What stands further left was written by whoever sent the request.
        guard hops.count >= proxies else { return Self.network(of: connection) }
        return Self.network(of: hops[hops.count - proxies])
    }

    /// What of an address tells customers apart. What is no address is one subject for all.
    static func network(of text: String) -> String {
        guard let socket = try? SocketAddress(ipAddress: host(in: text), port: 0) else { return "unknown" }
        guard let address = socket.ipAddress else { return "unknown" }
        guard case .v6 = socket else { return address }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, address, &bytes) == 1 else { return "unknown" }
        // IPv4 as IPv6 writes it (RFC 4291, section 2.5.5.2).
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            return bytes.suffix(4).map(String.init).joined(separator: ".")
        }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }

    /// Without the port and the brackets that some proxies write.
    private static func host(in text: String) -> String {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return String(text[text.index(after: text.startIndex)..<end])
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : text
    }
}

/// Slows guessing down, per address: so many wrong passwords and codes a minute, whosever they are. How session slows it
/// per account is no help where one guess is made at each of many accounts.
///
/// A guess that turns out right costs nothing. Known to this process alone: with n replicas there are n times as many.
struct Guesses: Sendable {
    let limit: RateLimit<String>
    let addresses: ClientAddress

    /// Runs what finds out whether a guess is right.
    /// - Throws: ``Problem`` 429 when too many were wrong; what `body` throws.
    func watch<Value: Sendable>(
        _ request: Request, _ context: EdgeContext, _ body: () async throws -> Value
    ) async throws -> Value {
        try await watch(addresses.address(of: request, context), body)
    }

    /// The same where somebody signs in. A device that was signed in before is counted by session alone: it isn't held up
    /// by its neighbours.
    func watch<Value: Sendable>(_ source: SignInSource, _ body: () async throws -> Value) async throws -> Value {
        source.known == nil ? try await watch(source.address, body) : try await body()
    }

    private func watch<Value: Sendable>(_ address: String, _ body: () async throws -> Value) async throws -> Value {
        guard limit.admit(address) else {
            throw Problem(
                .tooManyRequests, "tooManyAttempts",
                "too many wrong guesses came from your address; wait a minute and try again",
                retryAfter: limit.pause)
        }
        do {
            let value = try await body()
            limit.giveBack(address)
            return value
        } catch {
            if !Self.isWrongGuess(error) { limit.giveBack(address) }
            throw error
        }
    }

    private static func isWrongGuess(_ error: any Error) -> Bool {
        let code = (error as? Problem)?.code ?? (error as? Rejection)?.code.rawValue
        return ["invalidCredentials", "invalidCode"].contains(code)
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
}
