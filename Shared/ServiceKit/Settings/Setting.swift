/// A setting, declared once: its flag, its environment variable, its line in `--help`, and its type.
///
/// ```swift
/// extension Setting where Value == Int {
///     static var port: Self { .int("port", in: 0...65_535, default: 8080, help: "Where the HTTP API listens.") }
/// }
/// // --port, PORT
/// ```
package struct Setting<Value: Sendable>: Sendable {
    /// In lower case with dots: `database.url` is `--database-url` and `DATABASE_URL`.
    package let key: String
    /// A sentence for `--help`.
    package let help: String
    /// Stands for the value in `--help`, such as `URL`.
    package let placeholder: String
    package let defaultValue: Value
    /// Secrets can't be given as a flag, which other users of the machine could see, but only in the environment or in
    /// a file that the environment names: `KEY` or `KEY_FILE`.
    package let isSecret: Bool
    /// How `--help` shows the default; nil if it says nothing.
    package let shownDefault: String?

    let parse: @Sendable (String) throws(SettingProblem) -> Value

    /// - Parameters:
    ///   - key: In lower case with dots.
    ///   - placeholder: Stands for the value in `--help`.
    ///   - shownDefault: How `--help` shows the default.
    ///   - isSecret: Whether it can't be given as a flag.
    ///   - help: A sentence for `--help`.
    package init(
        _ key: String, placeholder: String, default defaultValue: Value, shownDefault: String? = nil,
        isSecret: Bool = false, help: String, parse: @Sendable @escaping (String) throws(SettingProblem) -> Value
    ) {
        self.key = key
        self.help = help
        self.placeholder = placeholder
        self.defaultValue = defaultValue
        self.shownDefault = shownDefault
        self.isSecret = isSecret
        self.parse = parse
    }
}

/// Why a text isn't a setting's value.
package struct SettingProblem: Error, Hashable, Sendable {
    /// A phrase to follow "must be": `a number from 0 to 65535`.
    package let expected: String

    package init(expected: String) {
        self.expected = expected
    }
}

extension Setting where Value == String {
    package static func text(
        _ key: String, placeholder: String = "TEXT", default defaultValue: String, isSecret: Bool = false, help: String
    ) -> Self {
        Setting(
            key, placeholder: placeholder, default: defaultValue,
            shownDefault: defaultValue.isEmpty || isSecret ? nil : defaultValue, isSecret: isSecret, help: help
        ) { text throws(SettingProblem) in text }
    }
}

extension Setting where Value == String? {
    package static func text(
        _ key: String, placeholder: String = "TEXT", isSecret: Bool = false, help: String
    ) -> Self {
        Setting(key, placeholder: placeholder, default: nil, isSecret: isSecret, help: help) {
            text throws(SettingProblem) in text
        }
    }
}

extension Setting where Value == Int {
    package static func int(_ key: String, in range: ClosedRange<Int>, default defaultValue: Int, help: String) -> Self
    {
        Setting(key, placeholder: "NUMBER", default: defaultValue, shownDefault: "\(defaultValue)", help: help) {
            text throws(SettingProblem) in
            guard let number = Int(text), range.contains(number) else {
                throw SettingProblem(expected: "a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension Setting where Value == Int? {
    package static func int(_ key: String, in range: ClosedRange<Int>, help: String) -> Self {
        let number = Setting<Int>.int(key, in: range, default: range.lowerBound, help: help)
        return Setting(key, placeholder: "NUMBER", default: nil, help: help) { text throws(SettingProblem) in
            try number.parse(text)
        }
    }
}

extension Setting where Value == Bool {
    package static func bool(_ key: String, default defaultValue: Bool, help: String) -> Self {
        Setting(key, placeholder: "true|false", default: defaultValue, shownDefault: "\(defaultValue)", help: help) {
            text throws(SettingProblem) in
            switch text.lowercased() {
            case "true", "yes", "on", "1": return true
            case "false", "no", "off", "0": return false
            default: throw SettingProblem(expected: "true or false")
            }
        }
    }
}

extension Setting where Value == Duration {
    /// Such as `250ms`, `5s`, `10m`, `1h` or `30d`.
    package static func duration(
        _ key: String, in range: ClosedRange<Duration>, default defaultValue: Duration, help: String
    ) -> Self {
        Setting(key, placeholder: "TIME", default: defaultValue, shownDefault: defaultValue.shortText, help: help) {
            text throws(SettingProblem) in
            guard let duration = Duration(shortText: text), range.contains(duration) else {
                throw SettingProblem(
                    expected:
                        "a time from \(range.lowerBound.shortText) to \(range.upperBound.shortText), such as 250ms, 5s or 10m"
                )
            }
            return duration
        }
    }
}

extension Setting
where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    package static func choice(_ key: String, default defaultValue: Value, help: String) -> Self {
        let words = Value.allCases.map(\.rawValue)
        return Setting(
            key, placeholder: words.joined(separator: "|"), default: defaultValue, shownDefault: defaultValue.rawValue,
            help: help
        ) { text throws(SettingProblem) in
            guard let value = Value(rawValue: text.lowercased()) else {
                throw SettingProblem(expected: "one of \(words.joined(separator: ", "))")
            }
            return value
        }
    }
}

extension Duration {
    private static var units: [(suffix: String, length: Duration)] {
        [
            ("ms", .milliseconds(1)), ("d", .seconds(86_400)), ("h", .seconds(3600)), ("m", .seconds(60)),
            ("s", .seconds(1)),
        ]
    }

    /// Reads `250ms`, `5s`, `10m`, `1h`, `30d`.
    init?(shortText text: String) {
        for unit in Self.units where text.hasSuffix(unit.suffix) {
            guard let count = Int32(text.dropLast(unit.suffix.count)), count >= 0 else { return nil }
            self = unit.length * Int(count)
            return
        }
        return nil
    }

    /// Written in the largest unit that makes it a whole number.
    var shortText: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        for (suffix, length) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] as [(String, Int64)]
        where milliseconds >= length && milliseconds % length == 0 {
            return "\(milliseconds / length)\(suffix)"
        }
        return "\(milliseconds)ms"
    }
}
