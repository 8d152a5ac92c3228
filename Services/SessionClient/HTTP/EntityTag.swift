import HTTPTypes
import Hummingbird

/// Names one state of what a path answers with (RFC 9110, section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// As it stands in `ETag`, with its quotation marks.
    let text: String

    init(_ name: some CustomStringConvertible) {
        text = "\"\(name)\""
    }
}

extension Request {
    /// Whether the client has what the tag names (RFC 9110, section 13.1.2): any of a list, weak ones too.
    func has(_ tag: EntityTag) -> Bool {
        guard let header = headers[.ifNoneMatch] else { return false }
        return header == "*"
            || header.split(separator: ",").contains {
                $0.trimmingPrefix { $0 == " " }.replacing("W/", with: "") == tag.text
            }
    }
}
