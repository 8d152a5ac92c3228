public import QuartetAPI
public import QuartetSessionContract
public import QuartetVocabulary
import Synchronization

/// What a device keeps to stay signed in.
public struct Credentials: Codable, Hashable, Sendable {
    public var account: AccountID
    public var device: DeviceID
    public var refreshToken: String
    /// The key under which the refresh token is being exchanged. It is kept before the exchange is sent: after a crash, the same
    /// exchange gets the same answer, and another one would look like a thief's.
    public var exchange: ID<RequestSubject>?
    /// Whether the device is signed out. The token then still shows, at the next sign-in, that the device was known.
    public var isSignedOut: Bool
    /// Whether the person signed out, and the server may not know yet: the token is kept to tell it.
    public var isLeaving: Bool

    public init(
        account: AccountID, device: DeviceID, refreshToken: String, exchange: ID<RequestSubject>? = nil,
        isSignedOut: Bool = false, isLeaving: Bool = false
    ) {
        self.account = account
        self.device = device
        self.refreshToken = refreshToken
        self.exchange = exchange
        self.isSignedOut = isSignedOut
        self.isLeaving = isLeaving
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        account = try values.decode(AccountID.self, forKey: .account)
        device = try values.decode(DeviceID.self, forKey: .device)
        refreshToken = try values.decode(String.self, forKey: .refreshToken)
        exchange = try values.decodeIfPresent(ID<RequestSubject>.self, forKey: .exchange)
        isSignedOut = try values.decode(Bool.self, forKey: .isSignedOut)
        // 0.1.0 doesn't write it.
        isLeaving = try values.decodeIfPresent(Bool.self, forKey: .isLeaving) ?? false
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Without the token, wherever it is printed.
    public var description: String {
        "account \(account), device \(device)\(isSignedOut ? ", signed out" : "")\(isLeaving ? ", leaving" : "")"
    }

    /// The same, for `dump`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "account": account, "device": device, "isSignedOut": isSignedOut, "isLeaving": isLeaving,
            ], displayStyle: .struct)
    }
}

/// Keeps credentials. What it has saved must be durable before it returns.
public protocol TokenStore: Sendable {
    /// - Throws: ``TokensUnreadable`` if signing in again is all that helps; anything else if a later try may succeed.
    func load() throws -> Credentials?
    /// Nil forgets them.
    func save(_ credentials: Credentials?) throws
    /// Has `change` make something else of what is there, and saves that if it differs. Nobody else saves anything between the two: where
    /// several processes have the same credentials, this is what keeps two of them from exchanging one token under two keys, which looks
    /// like a thief to the server. `change` may be called more than once, and does nothing else.
    func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value
}

/// What a store has is damaged, or sealed by a key that is gone: no later try reads it either. Nobody is signed in then, and signing in
/// replaces it. A store that can't be read for a while, as on a locked device, throws something else.
public struct TokensUnreadable: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "what is kept of the tokens is damaged, or sealed by another key" }
}

/// Another process is just changing what a store has. It is asked again soon.
struct TokenStoreBusy: Error, CustomStringConvertible {
    var description: String { "another process of the app changes the tokens" }
}

extension TokenStore {
    /// For a store that one connection has alone.
    public func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
        let before = try load()
        var after = before
        let value = try change(&after)
        if after != before { try save(after) }
        return value
    }
}

/// Forgets everything when the process ends.
public final class InMemoryTokenStore: TokenStore {
    private let credentials: Mutex<Credentials?>

    public init(_ credentials: Credentials? = nil) {
        self.credentials = Mutex(credentials)
    }

    public func load() -> Credentials? { credentials.withLock { $0 } }
    public func save(_ credentials: Credentials?) { self.credentials.withLock { $0 = credentials } }

    public func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) rethrows -> Value {
        try credentials.withLock { credentials in
            var after = credentials
            let value = try change(&after)
            credentials = after
            return value
        }
    }
}
