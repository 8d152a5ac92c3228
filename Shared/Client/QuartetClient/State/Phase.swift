public import QuartetVocabulary

/// How much shared state says about the present.
public enum Phase: Hashable, Sendable {
    /// Nothing has arrived yet.
    case loading
    /// It is what the server has. An interruption of a few seconds doesn't change that.
    case ready
    /// It is what the server had when the connection was lost.
    case stale(since: Instant)
    /// There is nothing to show, and that won't change by itself.
    case failed(ConnectionError)
}
