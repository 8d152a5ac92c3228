import QuartetAPI
import QuartetVocabulary

/// Slows guessing down, per address: so many wrong passwords, codes and operators' keys a minute, whosever they are.
/// How session slows it per account is no help where one guess is made at each of many accounts.
///
/// A guess that turns out right costs nothing. Known to this process alone: with n replicas there are n times as many.
struct Guesses: Sendable {
    private let limit: RateLimit<String>

    init(_ perMinute: Int) { limit = RateLimit(Rate(perMinute, per: .minute)) }

    /// Runs what finds out whether a guess is right.
    /// - Throws: `tooManyAttempts` when too many were wrong; what `body` throws.
    func watch<Value: Sendable>(_ address: String, _ body: () async throws -> Value) async throws -> Value {
        guard limit.admit(address) else {
            throw APIError(
                .tooManyAttempts, "There were too many wrong guesses from your address; wait a minute and try again.",
                retryAfter: limit.pause)
        }
        do {
            let value = try await body()
            limit.giveBack(address)
            return value
        } catch {
            if !Self.isWrongGuess(error) { limit.giveBack(address) }
            throw error
        }
    }

    /// The same for a sign-in. A device that was signed in before is counted by session alone: it isn't held up
    /// by its neighbours.
    func watch<Value: Sendable>(_ source: SignInSource, _ body: () async throws -> Value) async throws -> Value {
        source.known == nil ? try await watch(source.address, body) : try await body()
    }

    private static func isWrongGuess(_ error: any Error) -> Bool {
        let code = (error as? APIError)?.code ?? (error as? Rejection).map { APIError($0).code }
        return [.invalidCredentials, .invalidCode, .wrongConfirmation, .invalidToken].contains(code)
    }
}
