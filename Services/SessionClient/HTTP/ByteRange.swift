/// What a request's `Range` asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
    /// Everything: there is no header, or one that may be ignored, as it asks for several ranges, counts in another unit, or can't
    /// be understood.
    case everything
    case part(Range<Int>)
    /// Nothing that there is.
    case unsatisfiable

    /// - Parameter size: How many bytes there are.
    init(_ header: String?, of size: Int) {
        guard let match = header?.wholeMatch(of: /(?i:bytes)=[ \t]*([0-9]*)-([0-9]*)[ \t]*/) else {
            self = .everything
            return
        }
        // More digits than fit are beyond every end.
        let (first, last) = (Self.number(match.1), Self.number(match.2))
        switch (first, last) {
        case (nil, nil): self = .everything
        case (let first?, let last?) where last < first: self = .everything
        case (let first?, let last):
            self = first < size ? .part(first..<min(last ?? .max, size - 1) + 1) : .unsatisfiable
        case (nil, let count?): self = count > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        }
    }

    private static func number(_ digits: Substring) -> Int? {
        digits.isEmpty ? nil : Int(digits) ?? .max
    }
}
