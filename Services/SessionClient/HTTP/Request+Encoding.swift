import Foundation
import HTTPTypes
import Hummingbird

extension Request {
    /// Whether the client takes gzip (RFC 9110, section 12.5.3).
    var acceptsGzip: Bool {
        headers[.acceptEncoding]?.split(separator: ",").contains { coding in
            let parts = coding.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            return parts.first == "gzip" && !parts.dropFirst().contains { $0.wholeMatch(of: /q=0(\.0*)?/) != nil }
        } ?? false
    }
}
