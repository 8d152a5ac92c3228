/// Names one state of what is read (RFC 9110, section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// As it stands in `ETag`, with its quotation marks.
    let text: String

    init(_ name: some CustomStringConvertible) {
        text = "\"\(name)\""
    }
}
