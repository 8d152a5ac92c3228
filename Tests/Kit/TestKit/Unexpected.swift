/// Something is not as the test needs it to go on.
public struct Unexpected: Error, CustomStringConvertible {
    /// What was found, and where in the test.
    public let description: String

    /// - Parameter found: What was found instead of what the test needs.
    public init(_ found: some Any, file: StaticString = #fileID, line: Int = #line) {
        description = "\(file):\(line): unexpected: \(found)"
    }
}
