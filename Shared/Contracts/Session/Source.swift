public import Vocabulary

/// What ``SourceID`` identifies.
public enum SourceSubject {}

/// Where somebody signs in from, so that guesses can be counted by it. The edge makes it of an address under the server's
/// key, so that no log has the address.
public typealias SourceID = ID<SourceSubject>

/// Shows that a device was signed in to the account before: guesses from elsewhere don't hold it up.
public struct KnownDevice: Codable, Hashable, Sendable {
    /// Which one.
    public let device: DeviceID
    /// The hash of a refresh token that it has, or had not long ago.
    public let token: Secret

    /// Its parameters are the properties of the same names.
    public init(device: DeviceID, token: Secret) {
        self.device = device
        self.token = token
    }
}
