import Foundation
import ServiceKit

/// The web pages that may use the API from a browser, by their origins (RFC 6454).
enum WebOrigins: Hashable, Sendable {
    case none
    case all
    case listed(Set<String>)

    /// - Parameter text: Origins as browsers send them, separated by commas, or `*`.
    init(_ text: String) throws(SettingProblem) {
        let origins = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if origins == ["*"] {
            self = .all
            return
        }
        for origin in origins where Self.normal(origin) != origin {
            throw SettingProblem(
                expected: "origins such as https://app.example.org or http://localhost:3000, without a path, or *")
        }
        self = origins.isEmpty ? .none : .listed(Set(origins))
    }

    /// How browsers write an origin; nil for what isn't one.
    private static func normal(_ text: String) -> String? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, ["http", "https"].contains(scheme),
            let host = parts.host, !host.isEmpty, host == host.lowercased()
        else { return nil }
        return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
    }

    func allow(_ origin: String) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .listed(let origins): origins.contains(origin)
        }
    }
}
