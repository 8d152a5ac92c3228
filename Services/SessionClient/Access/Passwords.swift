import CryptoExtras
import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Turns passwords into verifiers, so that no password and nothing from which one could be guessed cheaply reaches the
/// bus: scrypt (RFC 7914) with a salt that only one of this server's keys can make.
///
/// A bounded pool: hashing is meant to be slow, so only as many run as there are threads for it, and more wait than
/// that many only briefly.
final class Passwords: Sendable {
    /// Version 1: N = 2^15, r = 8, p = 1, about 50 ms and 32 MiB. A new version is a new prefix, never a change.
    private static let rounds = 1 << 15
    private static let lengths = 10...200

    private let keys: ServerKeys
    private let queue = OperationQueue()
    private struct Waiting: Sendable {
        var all = 0
        var byAddress: [String: Int] = [:]
    }

    private let waiting = Mutex(Waiting())
    private let waitingLimit: Int
    /// How many of them are kept for devices that are signed in, so that a crowd of strangers can't lock out their owners.
    private var keptForSignedIn: Int { waitingLimit / 4 }
    /// How many one address may have, so that it can't take all of them.
    private static let addressLimit = EdgeLimits.passwordsWaitingOfAddress.value

    init(keys: ServerKeys, waitingLimit: Int = EdgeLimits.passwordsWaiting.value) {
        self.keys = keys
        self.waitingLimit = waitingLimit
        // One core is left for everything else.
        queue.maxConcurrentOperationCount = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
    }

    /// The verifier to keep of a new password.
    func verifier(
        of password: String, for handle: Handle, from address: String, isSignedIn: Bool = false,
        field: String = "password"
    ) async throws -> Proof {
        let made = try await proofs(
            of: password, for: handle, under: [keys.current], from: address, isSignedIn: isSignedIn, field: field)
        guard let verifier = made.first else { throw WrongLength() }
        return verifier
    }

    /// Proofs of knowing a password, one for each key under which it may be kept. All are made for every handle, so that
    /// the time tells nothing.
    func verifiers(
        of password: String, for handle: Handle, from address: String, isSignedIn: Bool = false,
        field: String = "password"
    ) async throws -> [Proof] {
        try await proofs(
            of: password, for: handle, under: keys.all, from: address, isSignedIn: isSignedIn, field: field)
    }

    /// - Parameters:
    ///   - address: where the request comes from.
    ///   - isSignedIn: whether a device asks that is signed in, or was before.
    ///   - field: what the password is called in the request.
    /// - Throws: an ``APIError`` when the password is no good, or when too many wait.
    private func proofs(
        of password: String, for handle: Handle, under keys: [ServerKeys.ServerKey], from address: String,
        isSignedIn: Bool, field: String
    ) async throws -> [Proof] {
        try Self.checkLength(of: password, field: field)
        let isAdmitted = waiting.withLock { waiting in
            let count = waiting.byAddress[address, default: 0]
            guard waiting.all < (isSignedIn ? waitingLimit : waitingLimit - keptForSignedIn), count < Self.addressLimit
            else { return false }
            waiting.all += 1
            waiting.byAddress[address] = count + 1
            return true
        }
        guard isAdmitted else {
            throw APIError(.overloaded, "There are too many sign-ins at once; try again in a second.", retryAfter: 1)
        }
        defer {
            waiting.withLock { waiting in
                waiting.all -= 1
                let count = waiting.byAddress[address, default: 1]
                waiting.byAddress[address] = count > 1 ? count - 1 : nil
            }
        }
        return try await withCheckedThrowingContinuation { continuation in
            queue.addOperation {
                continuation.resume(
                    with: Result {
                        try keys.map {
                            Proof(
                                key: $0.version,
                                secret: try Self.derive(password, salt: Data($0.mac("salt/1/\(handle.description)"))))
                        }
                    })
            }
        }
    }

    private static func checkLength(of password: String, field: String) throws(APIError) {
        guard lengths.contains(password.count), password.utf8.count <= 1000 else {
            throw APIError(
                .invalidField, "The password must have \(lengths.lowerBound) to \(lengths.upperBound) characters.",
                field: field)
        }
    }

    /// Refuses a new password that is easily guessed.
    /// - Throws: an ``APIError`` that says why not.
    static func check(new password: String, for handle: Handle, field: String = "password") throws(APIError) {
        try checkLength(of: password, field: field)
        let folded = password.precomposedStringWithCompatibilityMapping.lowercased()
        let letters = folded.filter { $0.isLetter || $0.isNumber }
        let name = handle.description.filter { $0.isLetter || $0.isNumber }
        let problem: String? =
            if CommonPasswords.all.contains(folded) || CommonPasswords.all.contains(letters) {
                "This password is one of the most common ones, which attackers try first; choose another."
            } else if letters.replacing(name, with: "").allSatisfy(\.isNumber), letters.contains(name) {
                "The password must be more than the handle; choose another."
            } else if Set(folded).count < 4 {
                "The password must have at least four different characters; choose another."
            } else {
                nil
            }
        if let problem { throw APIError(.commonPassword, problem, field: field) }
    }

    private static func derive(_ password: String, salt: Data) throws -> Secret {
        let key = try KDF.Scrypt.deriveKey(
            from: Data(password.precomposedStringWithCanonicalMapping.utf8), salt: salt, outputByteCount: 32,
            rounds: rounds, blockSize: 8, parallelism: 1)
        guard let secret = Secret(key.withUnsafeBytes { Array($0) }) else { throw WrongLength() }
        return secret
    }

    private struct WrongLength: Error {}
}
