/// A ``Setting`` whose type doesn't matter: for lists of them.
public protocol SettingDeclaration: Sendable {
    /// Its name, in lower case with dots.
    var key: String { get }
    /// What it is for.
    var help: String { get }
    /// What stands for its value in `--help`.
    var placeholder: String { get }
    /// How the default reads in `--help`.
    var shownDefault: String? { get }
    /// Whether it must not be given as a flag.
    var isSecret: Bool { get }

    /// Reads a value; nil is the default.
    func value(of text: String?) throws(SettingProblem) -> any Sendable
}

extension Setting: SettingDeclaration {
    /// Reads a value; nil is the default.
    public func value(of text: String?) throws(SettingProblem) -> any Sendable {
        guard let text else { return defaultValue }
        return try parse(text)
    }
}

extension SettingDeclaration {
    /// Its flag.
    public var flag: String { "--" + key.replacing(".", with: "-") }
    /// Its environment variable.
    public var variable: String { key.replacing(".", with: "_").uppercased() }
}
