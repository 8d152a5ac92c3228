import QuartetAPI

/// Refuses bodies before they are decoded: too large, too deep, with U+0000, or not UTF-8.
///
/// One pass over the bytes. Whether they are JSON is the decoder's to say; this only keeps it, and PostgreSQL, from
/// what they can't take.
enum BodyCheck {
    private static let depthLimit = EdgeLimits.depth.value
    static let tooLarge = APIError(
        .bodyTooLarge, "The body must have at most \(EdgeLimits.body.value) bytes.")

    static func check(_ bytes: [UInt8]) throws(APIError) {
        guard bytes.count <= EdgeLimits.body.value else { throw tooLarge }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw APIError(.malformedBody, "The body must be UTF-8.")
        }
        var depth = 0
        var isInString = false
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\") where isInString:
                if bytes[index...].starts(with: Array("\\u0000".utf8)) {
                    throw APIError(.invalidField, "Texts must not contain U+0000.")
                }
                index += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString:
                depth += 1
                guard depth <= depthLimit else {
                    throw APIError(
                        .malformedBody, "The body must not be nested deeper than \(depthLimit) levels.")
                }
            case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString: depth -= 1
            case 0: throw APIError(.malformedBody, "The body must not contain zero bytes.")
            default: break
            }
            index += 1
        }
    }
}
