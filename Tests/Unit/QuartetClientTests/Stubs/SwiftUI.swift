// As much of SwiftUI as QuartetSwiftUI and the articles use, so that they are type-checked where there is none. Nothing of it runs.
// Declarations follow https://developer.apple.com/documentation/swiftui.

@_exported public import Observation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public typealias Body = Never
    public var body: Never { fatalError("nothing runs") }
}

public protocol PrimitiveView: View where Body == Never {}
extension PrimitiveView {
    public var body: Never { fatalError("nothing runs") }
}

@resultBuilder public enum ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    @MainActor public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> {
        ConditionalContent()
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> {
        ConditionalContent()
    }
}

public struct EmptyView: PrimitiveView { public init() {} }
public struct TupleView<Content>: PrimitiveView {}
public struct ConditionalContent<First: View, Second: View>: PrimitiveView {}
extension Optional: View where Wrapped: View {
    public typealias Body = Never
    public var body: Never { fatalError("nothing runs") }
}

public struct Text: PrimitiveView { public init(_ text: some StringProtocol) {} }
public struct ProgressView: PrimitiveView { public init() {} }
public struct Label: PrimitiveView { public init(_ title: some StringProtocol, systemImage: String) {} }
public struct ForEach<Data: RandomAccessCollection, Content: View>: PrimitiveView where Data.Element: Identifiable {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}
public struct Button: PrimitiveView {
    @preconcurrency public init(
        _ title: some StringProtocol, systemImage: String, action: @escaping @MainActor () -> Void
    ) {}
}
public struct ContentUnavailableView<Label: View, Description: View, Actions: View>: PrimitiveView {
    public init(
        @ViewBuilder label: () -> Label, @ViewBuilder description: () -> Description = { EmptyView() },
        @ViewBuilder actions: () -> Actions = { EmptyView() }
    ) {}
}

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = ModifierContent<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct ModifierContent<Modifier>: PrimitiveView {}
public struct ModifiedContent<Content, Modifier>: PrimitiveView {}

public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
public struct EnvironmentValues {
    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { Key.defaultValue }
        set {}
    }
    public var scenePhase: ScenePhase { .active }
}
public protocol DynamicProperty {}
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    public init(_ path: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError("nothing runs") }
}

extension View {
    public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> ModifiedContent<Self, Modifier> {
        ModifiedContent()
    }
    public func environment<Value>(
        _ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View { self }
    public func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }
    public func task<ID: Equatable>(
        id: ID, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some View { self }
    public func disabled(_ isDisabled: Bool) -> some View { self }
    public func id(_ id: some Hashable) -> some View { self }
}
