/// What browsers subscribe to pushes with (RFC 8292, section 4).
public struct PushKey: Codable, Hashable, Sendable {
    /// The public key of whoever sends pushes: a point of P-256, uncompressed, in base64url. Nil if nobody sends any to browsers.
    public let publicKey: String?

    package init(publicKey: String?) {
        self.publicKey = publicKey
    }
}
