import QuartetSessionContract
import QuartetVocabulary

/// Where a sign-in comes from. Attempts are counted per source.
struct SignInSource: Sendable {
    /// The address, for what is counted in this process.
    let address: String
    /// What session calls it.
    let id: SourceID
    /// A device that was signed in to the same account before. Attempts of others, even at the same address, don't delay
    /// it.
    let known: KnownDevice?
}

/// Tells sources apart, and recognises a device by the refresh token that it has or had.
struct SignInSources: Sendable {
    let tokens: Tokens
    let key: ServerKeys.ServerKey

    /// - Parameters:
    ///   - refreshToken: The one in the request. An invalid one is ignored, since a sign-in needs none.
    ///   - account: Finds the account to sign in to, if there is one.
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
        // Without a token nothing is looked up, whether or not the account exists.
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
