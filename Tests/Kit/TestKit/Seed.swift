import Foundation

/// A random number generator whose whole sequence follows from its seed (SplitMix64).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    /// What it was made from.
    public let seed: UInt64
    private var state: UInt64

    /// - Parameter seed: What its sequence follows from.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next number of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A generator whose sequence is independent of what this one gives afterwards: one for each thing that happens
    /// concurrently, so that the order in which they run doesn't change what each does.
    public mutating func fork() -> SeededRandom {
        SeededRandom(seed: next())
    }

    /// True once in `n` times on average.
    public mutating func oneIn(_ n: Int) -> Bool {
        Int.random(in: 0..<n, using: &self) == 0
    }
}

/// A random test failed; running it again with its seed repeats it.
public struct FailedWithSeed: Error, CustomStringConvertible {
    /// The seed that it failed with.
    public let seed: UInt64
    /// How it failed.
    public let error: any Error

    /// How it failed, and how to repeat it.
    public var description: String { "seed \(seed) (repeat with TEST_SEED=\(seed)): \(error)" }
}

/// The seed of this run: `TEST_SEED` if it is set, else one that nobody knows beforehand.
public let testSeed: UInt64 =
    ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999_999)

/// Runs `body` with random numbers that follow from the run's seed, and names the seed when it throws.
///
/// Prefer `try #require` to `#expect` inside: only what is thrown can carry the seed. It is printed as well.
/// - Parameters:
///   - name: What the randomness is for; tests with different names get different numbers.
///   - seed: The run's seed unless given.
///   - body: What needs random numbers.
public func withRandom<Result>(
    _ name: String = #function, seed: UInt64 = testSeed, _ body: (inout SeededRandom) async throws -> Result
) async throws -> Result {
    // FNV-1a: the same in every run, unlike Swift's hashes.
    let salt = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    var random = SeededRandom(seed: seed ^ salt)
    print("seed \(seed) for \(name)")
    do {
        return try await body(&random)
    } catch {
        throw FailedWithSeed(seed: seed, error: error)
    }
}
