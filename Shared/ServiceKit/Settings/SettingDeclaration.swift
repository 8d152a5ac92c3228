/// A ``Setting`` of any type, for lists.
package protocol SettingDeclaration: Sendable {
    var key: String { get }
    var help: String { get }
    var placeholder: String { get }
    var shownDefault: String? { get }
    var isSecret: Bool { get }

    /// - Parameter text: Nil for the default.
    func value(of text: String?) throws(SettingProblem) -> any Sendable
}

extension Setting: SettingDeclaration {
    package func value(of text: String?) throws(SettingProblem) -> any Sendable {
        guard let text else { return defaultValue }
        return try parse(text)
    }
}

extension SettingDeclaration {
    package var flag: String { "--" + key.replacing(".", with: "-") }
    package var variable: String { key.replacing(".", with: "_").replacing("-", with: "_").uppercased() }
}
