import SessionContract
import Vocabulary

/// From where somebody wants to sign in. What they try is counted by it.
struct SignInSource: Sendable {
    /// The address, for what is counted in this process.
    let address: String
    /// What session calls it.
    let id: SourceID
    /// A device that was signed in to the same account before. What others try, at the same address even, doesn't hold it
    /// up.
    let known: KnownDevice?
}

/// Tells sources apart, and recognises a device by the refresh token that it has or had.
struct SignInSources: Sendable {
    let tokens: Tokens
    let key: ServerKeys.ServerKey

    /// - Parameters:
    ///   - refreshToken: what the request shows. One that is no good counts for nothing: whoever signs in may have none.
    ///   - account: finds whose account it is that somebody wants to sign in to, if it is anybody's.
    func source(
        of call: Call, showing refreshToken: String?,
        for account: () async throws -> AccountID?
    ) async throws -> SignInSource {
        SignInSource(
            address: call.address, id: SourceID(firstOf: key.mac("source/1/\(call.address)")),
            known: try await known(by: refreshToken, for: account))
    }

    private func known(
        by refreshToken: String?, for account: () async throws -> AccountID?
    ) async throws -> KnownDevice? {
        // Nothing is looked up for who shows nothing, whether or not the account is there.
        guard let refreshToken, let refresh = try? tokens.refresh(from: refreshToken),
            refresh.account == (try await account())
        else { return nil }
        return KnownDevice(device: refresh.device, token: try tokens.secret(of: refresh))
    }
}

extension ID {
    /// Named after something: the first sixteen bytes of its digest.
    init(firstOf digest: [UInt8]) {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(digest.prefix(8)), low: word(digest.dropFirst(8).prefix(8)))
    }
}
