import Foundation
import NIOCore
import Synchronization

/// Posts to servers that strangers name: over TLS, to public addresses alone, and following no redirections. A name is looked up and its
/// addresses are judged here; the connection then goes to an address that was judged, so a name that leads elsewhere a moment later
/// leads nowhere.
package final class StrangersClient: Sendable {
    private struct Server: Sendable {
        let address: String
        let client: PushClient
        /// From when its name is looked up again.
        var lookUpAt: ContinuousClock.Instant
        var used: ContinuousClock.Instant
        /// Whether it ever took a push: strangers' own servers, which needn't, give way to it.
        var hasTaken = false
    }

    private struct State: Sendable {
        var servers: [String: Server] = [:]
        /// Names that are being looked up.
        var lookups = 0
        /// The address at which a name's server didn't answer lately.
        var silent: [String: String] = [:]
    }

    private let authorities: String?
    private let allowsPrivate: Bool
    private let state = Mutex(State())

    /// For how long a name's address is used without looking again.
    private static let freshness: Duration = .seconds(60)
    /// How long a name may take to be looked up: with a request, less than sending a push may take.
    private static let patience: Duration = .seconds(4)
    /// Push services have a handful of names. Those of strangers' own servers must not use up memory, nor threads that wait for an
    /// answer about a name.
    private static let serverLimit = 64
    private static let lookupLimit = 32
    /// Look-ups of names whose servers took pushes before, beside those.
    private static let knownLookupLimit = 8

    /// - Parameters:
    ///   - authorities: A file of certificates in PEM that are trusted beside the system's; nil for none.
    ///   - allowsPrivate: Whether any addresses and ports will do.
    package init(authorities: String?, allowsPrivate: Bool) {
        (self.authorities, self.allowsPrivate) = (authorities, allowsPrivate)
    }

    /// Why nothing was sent.
    enum Failure: Error {
        /// The URL leads where no push service can be.
        case forbidden(String)
        case unavailable(String)
    }

    /// - Parameter url: An https URL of that name and port.
    func post(
        _ url: String, name: String, port: Int, _ headers: [(String, String)], _ body: [UInt8]
    ) async throws(Failure) -> PushClient.Answer {
        guard allowsPrivate || port == 443 else { throw .forbidden("port \(port) isn't that of a push service") }
        let server = try await server(name)
        do {
            let answer = try await server.client.post(url, headers, body)
            if (200..<300).contains(answer.status) { state.withLock { $0.servers[name]?.hasTaken = true } }
            return answer
        } catch {
            state.withLock { state in
                guard let known = state.servers[name], known.address == server.address else { return }
                // If nobody answers about its name, it is asked where it was.
                if known.hasTaken { state.servers[name]?.lookUpAt = .now } else { state.servers[name] = nil }
                if state.silent.count >= Self.serverLimit { state.silent = [:] }
                state.silent[name] = server.address
            }
            throw .unavailable(error.description)
        }
    }

    /// The server of a name. While nobody answers what its address is, the one that it had.
    private func server(_ name: String) async throws(Failure) -> Server {
        let known = state.withLock { state in
            state.servers[name]?.used = .now
            return state.servers[name]
        }
        if let known, .now < known.lookUpAt { return known }
        let addresses: [[UInt8]]
        do { addresses = try await lookUp(name, isKnown: known?.hasTaken ?? false) } catch {
            if let known { return known }
            throw error
        }
        let open = addresses.filter { allowsPrivate || PublicAddress.isPublic($0) }.map(Self.text)
        guard let first = open.first else {
            state.withLock { $0.servers[name] = nil }
            throw .forbidden("it has no public address")
        }
        let silent = state.withLock { $0.silent[name] }
        let address = open.first { $0 != silent } ?? first
        do { return try keep(name, at: address) } catch { throw .unavailable("\(error)") }
    }

    private func keep(_ name: String, at address: String) throws -> Server {
        let now = ContinuousClock.now
        return try state.withLock { state in
            var server: Server
            if let known = state.servers[name], known.address == address {
                server = known
            } else {
                let client = try PushClient(authorities: authorities, only: (name, address))
                server = Server(address: address, client: client, lookUpAt: now, used: now)
                server.hasTaken = state.servers[name]?.hasTaken ?? false
            }
            server.lookUpAt = now + Self.freshness
            state.servers[name] = server
            // Whoever still sends by one keeps it until then.
            let others = state.servers.filter { !$0.value.hasTaken && $0.key != name }
            let oldest = (others.isEmpty ? state.servers : others).min { $0.value.used < $1.value.used }
            if state.servers.count > Self.serverLimit, let oldest { state.servers[oldest.key] = nil }
            return server
        }
    }

    // MARK: Names

    /// The addresses of a name; nothing can end a look-up that takes too long, so it is only left alone.
    private func lookUp(_ name: String, isKnown: Bool) async throws(Failure) -> [[UInt8]] {
        let isRoom = state.withLock { state in
            let limit = Self.lookupLimit + (isKnown ? Self.knownLookupLimit : 0)
            guard state.lookups < limit else { return false }
            state.lookups += 1
            return true
        }
        guard isRoom else { throw .unavailable("too many names are being looked up") }
        let (found, continuation) = AsyncStream<[[UInt8]]?>.makeStream()
        // A thread of its own: what waits for a name would hold up whatever else shares it.
        Thread.detachNewThread { [self] in
            let addresses = Self.addresses(of: name)
            state.withLock { $0.lookups -= 1 }
            continuation.yield(addresses)
            continuation.finish()
        }
        let timer = Task {
            try await Task.sleep(for: Self.patience)
            continuation.finish()
        }
        defer { timer.cancel() }
        for await addresses in found {
            guard let addresses, !addresses.isEmpty else { throw .unavailable("its name leads nowhere") }
            return addresses
        }
        throw .unavailable("its name wasn't found within four seconds")
    }

    /// Blocks until the name is resolved. IPv4 comes first: it reaches every push service, and a machine may have an address of IPv6
    /// that leads nowhere.
    private static func addresses(of name: String) -> [[UInt8]]? {
        var hints = addrinfo()
        hints.ai_socktype = streamType
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return nil }
        defer { freeaddrinfo(list) }
        var addresses: [[UInt8]] = []
        var next = list
        while let entry = next {
            defer { next = entry.pointee.ai_next }
            guard let address = entry.pointee.ai_addr else { continue }
            switch Int32(entry.pointee.ai_family) {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    addresses.append(withUnsafeBytes(of: address.pointee.sin_addr, Array.init))
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    addresses.append(withUnsafeBytes(of: address.pointee.sin6_addr, Array.init))
                }
            default: continue
            }
        }
        return addresses.filter { $0.count == 4 } + addresses.filter { $0.count != 4 }
    }

    private static var streamType: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    /// As a connection writes its peer's address.
    private static func text(_ address: [UInt8]) -> String {
        let packed = ByteBuffer(bytes: address)
        return (try? SocketAddress(packedIPAddress: packed, port: 0).ipAddress) ?? ""
    }
}
