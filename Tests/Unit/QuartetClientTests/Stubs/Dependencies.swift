// As much of swift-dependencies as an article uses, so that it is type-checked without that package. Nothing of it runs.

public protocol DependencyKey<Value>: Sendable {
    associatedtype Value: Sendable
    static var liveValue: Value { get }
    static var previewValue: Value { get }
    static var testValue: Value { get }
}

public struct DependencyValues: Sendable {
    public subscript<Key: DependencyKey>(key: Key.Type) -> Key.Value {
        get { Key.liveValue }
        set {}
    }
}

public func withDependencies<Result>(
    _ change: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result {
    var values = DependencyValues()
    try change(&values)
    return try operation()
}
