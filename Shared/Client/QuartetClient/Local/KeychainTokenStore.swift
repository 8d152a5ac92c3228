#if canImport(Security)
    public import Foundation
    import Security

    /// Keeps credentials in the keychain of Apple's systems.
    ///
    /// With an access group, an app and its extensions share one refresh token: each exchanges the newest one that it
    /// finds, and all under one key. The keychain has no lock between processes; what is replaced is found by what only that
    /// revision of it has, so whoever comes second reads again.
    ///
    /// Credentials are readable after the device was unlocked once, so that a push can be handled while it is locked,
    /// and never leave the device. On macOS, too, they are in the keychain that asks for an entitlement and not for a password, so the
    /// app has to be signed.
    public final class KeychainTokenStore: TokenStore {
        /// What the keychain refused.
        public struct Failure: LocalizedError, Hashable, CustomStringConvertible {
            /// Of `SecBase.h`.
            public let status: Int32

            public var errorDescription: String? { Texts.current["problem.tokensUnavailable"] }

            public var description: String {
                (SecCopyErrorMessageString(status, nil) as String?) ?? "the keychain's error \(status)"
            }
        }

        private let service: String
        private let account: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: One for each server.
        ///   - account: One for each person, where several are signed in side by side.
        ///   - accessGroup: Of the entitlement `keychain-access-groups`, with the team's prefix; or, on iOS, an app group's name.
        public init(service: String, account: String = "default", accessGroup: String? = nil) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
        }

        private var query: [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        public func load() throws -> Credentials? { try find()?.credentials }

        private struct Found {
            let credentials: Credentials
            /// Nil if 0.1.0 kept it.
            let revision: Data?
        }

        private func find() throws -> Found? {
            var found: CFTypeRef?
            let wanted: [CFString: Any] = [
                kSecReturnData: true, kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitOne,
            ]
            let status = SecItemCopyMatching(query.merging(wanted) { $1 } as CFDictionary, &found)
            guard status != errSecItemNotFound else { return nil }
            guard status == errSecSuccess, let item = found as? [String: Any],
                let data = item[kSecValueData as String] as? Data
            else { throw Failure(status: status) }
            guard let credentials = try? JSONDecoder().decode(Credentials.self, from: data) else {
                throw TokensUnreadable()
            }
            return Found(credentials: credentials, revision: item[kSecAttrGeneric as String] as? Data)
        }

        private static func values(_ credentials: Credentials) throws -> [CFString: Any] {
            [
                kSecValueData: try JSONEncoder().encode(credentials), kSecAttrGeneric: Data(UUID().uuidString.utf8),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
        }

        public func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
            var (last, status): (Data?, OSStatus) = (nil, errSecSuccess)
            for _ in 0..<20 {
                let found = try find()
                var after = found?.credentials
                let value = try change(&after)
                guard after != found?.credentials else { return value }
                // Each revision is there once. One that is there and wasn't found by itself is replaced as an older one is.
                let revision = found?.revision.flatMap { $0 == last ? nil : $0 }
                last = found?.revision
                let query = revision.map { self.query.merging([kSecAttrGeneric: $0]) { $1 } } ?? self.query
                status =
                    switch (found, try after.map(Self.values)) {
                    case (nil, let values?): SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil)
                    case (_?, let values?): SecItemUpdate(query as CFDictionary, values as CFDictionary)
                    case (_, nil): SecItemDelete(query as CFDictionary)
                    }
                // Another process was quicker.
                if status == errSecItemNotFound || status == errSecDuplicateItem { continue }
                guard status == errSecSuccess else { throw Failure(status: status) }
                return value
            }
            throw Failure(status: status)
        }

        public func save(_ credentials: Credentials?) throws {
            guard let credentials else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
                return
            }
            let values = try Self.values(credentials)
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil)
                // An extension was quicker.
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
                }
            }
            guard status == errSecSuccess else { throw Failure(status: status) }
        }
    }
#endif
