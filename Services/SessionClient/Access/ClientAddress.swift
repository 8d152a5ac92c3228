import Foundation
import NIOCore

/// Where requests come from, as far as it can be known: the address of the connection or, behind trusted proxies, the one
/// that the outermost of them saw.
struct ClientAddress: Sendable {
    /// How many proxies stand in front of this process, each of which appends to `X-Forwarded-For`.
    let proxies: Int

    /// The client's network.
    /// - Parameters:
    ///   - connection: The address of the connection, with or without its port.
    ///   - forwardedFor: The value of `X-Forwarded-For`.
    func network(connection: some StringProtocol, forwardedFor: String?) -> String {
        let connection = String(connection)
        guard proxies > 0, let forwardedFor else { return Self.network(of: connection) }
        let hops = forwardedFor.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        // What stands further left was written by the sender of the request.
        guard hops.count >= proxies else { return Self.network(of: connection) }
        return Self.network(of: hops[hops.count - proxies])
    }

    /// The part of an address by which customers are told apart: of IPv6 the first 64 bits, since one customer usually has
    /// all of those. All texts that are no address count as one customer.
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
