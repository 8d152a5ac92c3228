import Foundation
import Logging
import QuartetAPI
import QuartetVocabulary
import Synchronization

/// That an endpoint, or something that may be sent to it, will go away. It stays for at least half a year.
struct Deprecation: Hashable, Sendable {
    let since: Instant
    /// From when on it may be gone.
    let sunset: Instant
    /// Where the documentation says what to use instead.
    let instead: String

    /// The days, as people read them.
    var words: String { "Deprecated since \(Self.day(of: since)); it may be gone from \(Self.day(of: sunset)) on." }

    private static func day(of time: Instant) -> String {
        Date(timeIntervalSince1970: Double(time.microseconds) / 1_000_000).formatted(.iso8601.year().month().day())
    }
}

/// Something that is declared as an endpoint is.
protocol Declared {
    var declaration: Endpoint.Declaration { get set }
}

extension Endpoint: Declared {}
extension HTTPEndpoint: Declared {}

extension Declared {
    /// The same, which will go away.
    func deprecated(_ deprecation: Deprecation) -> Self {
        var copy = self
        copy.declaration.deprecation = deprecation
        return copy
    }

    /// The same, of which these parameters, or fields of the body, will go away.
    func deprecated(_ deprecation: Deprecation, _ fields: String...) -> Self {
        var copy = self
        for field in fields { copy.declaration.deprecatedFields[field] = deprecation }
        return copy
    }
}

extension Endpoint.Declaration {
    /// Which things that a request uses will go away, by their names.
    fileprivate func deprecations(
        in parameters: [String: [String]], _ body: [UInt8]
    ) -> [(name: String, deprecation: Deprecation)] {
        var found = deprecation.map { [(name: name, deprecation: $0)] } ?? []
        guard !deprecatedFields.isEmpty else { return found }
        var sent = Set(parameters.keys)
        if case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(body)) {
            sent.formUnion(members.keys)
        }
        for (field, deprecation) in deprecatedFields.sorted(by: { $0.key < $1.key }) where sent.contains(field) {
            found.append(("\(name).\(field)", deprecation))
        }
        return found
    }
}

/// Which things that a request used will go away. Its answer says so, and so does the log.
final class DeprecatedUses: Sendable {
    private let uses = Mutex<[Deprecation]>([])

    /// - Parameter client: What calls itself so in `Quartet-Client`.
    func note(
        _ declaration: Endpoint.Declaration, _ parameters: [String: [String]], _ body: [UInt8] = [],
        by client: String?, _ logger: Logger
    ) {
        for (name, deprecation) in declaration.deprecations(in: parameters, body) {
            uses.withLock { $0.append(deprecation) }
            logger.info(
                "something was used that will go away",
                metadata: ["name": "\(name)", "client": "\(client ?? "unknown")"])
        }
    }

    /// Deprecation (RFC 9745), Sunset (RFC 8594) and where to read on: of several, those of the one that goes first.
    var fields: [(name: String, value: String)] {
        guard let first = uses.withLock(\.self).min(by: { $0.sunset < $1.sunset }) else { return [] }
        return [
            ("Deprecation", "@\(first.since.microseconds / 1_000_000)"), ("Sunset", first.sunset.httpDate),
            ("Link", "<\(first.instead)>; rel=\"deprecation\""),
        ]
    }
}
