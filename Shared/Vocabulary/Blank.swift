// Values for a blank row, which a stored row is read into: each column replaces its own.

extension ID {
    package static var blank: Self { Self(high: 0, low: 0) }
}

extension Instant {
    package static var blank: Self { Self(microseconds: 0) }
}
