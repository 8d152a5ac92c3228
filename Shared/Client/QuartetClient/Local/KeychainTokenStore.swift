#if canImport(Security)
    import Foundation
    import Security

    /// Keeps credentials in the keychain of Apple's systems.
    ///
    /// With an access group, an app and its extensions share one refresh token: each exchanges the newest one that it
    /// finds. The keychain has no lock between processes, so two that exchange it at the very same moment can still
    /// look like a thief to the server, which then signs the device out. Have an extension make few requests.
    ///
    /// Credentials are readable after the device was unlocked once, so that a push can be handled while it is locked,
    /// and never leave the device. On macOS, too, they are in the keychain that asks for an entitlement and not for a password, so the
    /// app has to be signed.
    public final class KeychainTokenStore: TokenStore {
        /// What the keychain refused.
        public struct Failure: Error, Hashable, CustomStringConvertible {
            /// Of `SecBase.h`.
            public let status: Int32

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

        public func load() throws -> Credentials? {
            var found: CFTypeRef?
            let status = SecItemCopyMatching(
                query.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 } as CFDictionary, &found)
            guard status != errSecItemNotFound else { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
            return try JSONDecoder().decode(Credentials.self, from: data)
        }

        public func save(_ credentials: Credentials?) throws {
            guard let credentials else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
                return
            }
            let values: [CFString: Any] = [
                kSecValueData: try JSONEncoder().encode(credentials),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
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
