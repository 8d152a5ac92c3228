public import QuartetVocabulary

public enum SourceSubject {}

/// Where someone signs in from, for counting guesses. The edge derives it from an address under a server key, so that
/// no log contains the address.
public typealias SourceID = ID<SourceSubject>

/// Proves that a device was signed in to the account before, so that others' guesses don't hold it up.
public struct KnownDevice: Codable, Hashable, Sendable {
    public let device: DeviceID
    /// The hash of its present refresh token or a recent one.
    public let token: Secret

    public init(device: DeviceID, token: Secret) {
        self.device = device
        self.token = token
    }
}
