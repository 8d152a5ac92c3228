import API
import Foundation
import Vocabulary

/// That an endpoint, or a field of its body, will go away. It stays for at least half a year.
struct Deprecation: Hashable, Sendable {
    let since: Date
    /// From when on it may be gone.
    let sunset: Date
    /// Where the documentation says what to use instead.
    let instead: String
}

extension Endpoint.Declaration {
    /// What will go away of what a request asks, by its name: the endpoint, or fields of the body.
    func deprecations(in body: [UInt8]) -> [(name: String, deprecation: Deprecation)] {
        var found = deprecation.map { [(name: name, deprecation: $0)] } ?? []
        if !deprecatedFields.isEmpty,
            case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(body))
        {
            for (field, deprecation) in deprecatedFields.sorted(by: { $0.key < $1.key }) where members[field] != nil {
                found.append(("\(name).\(field)", deprecation))
            }
        }
        return found
    }
}
