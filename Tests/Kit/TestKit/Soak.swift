import Foundation

/// How much a test that draws random faults does: a short form in `make test`, a long one in `make soak`.
public enum Soak {
    private static let isOn = ProcessInfo.processInfo.environment["SOAK"] != nil

    /// How often, or how many, or how many seconds.
    public static func count(_ short: Int, long: Int) -> Int { isOn ? long : short }
}
