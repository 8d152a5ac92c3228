// As much of Apple's Network, and of Foundation, as SystemSurroundings uses, so that it is type-checked where there is none. Nothing of
// it runs. Declarations follow https://developer.apple.com/documentation/network.

public import Dispatch
public import Foundation

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
}

public final class NWPathMonitor: Sendable {
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public init() {}
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}

extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
