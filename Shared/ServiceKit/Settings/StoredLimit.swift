/// A number in a service's rules that can be set and that all replicas must agree on: a column of the one row of
/// `<schema>.limits`. `migrate` takes it as a flag or from the environment and stores it; the store reads it with each
/// batch. A limit that isn't given stays as it is.
package struct StoredLimit: Sendable {
    let column: String
    /// The column's type.
    let type: String
    let setting: any SettingDeclaration
    /// The given value, in PostgreSQL's spelling.
    let given: @Sendable (Settings) -> String?

    private init<Value: Sendable>(
        _ column: String, type: String, placeholder: String, help: String,
        parse: @escaping @Sendable (String) throws(SettingProblem) -> Value,
        spelled: @escaping @Sendable (Value) -> String
    ) {
        let setting = Setting<Value?>(
            column.replacing("_", with: "."), placeholder: placeholder, default: nil, help: help
        ) { text throws(SettingProblem) in try parse(text) }
        self.column = column
        self.type = type
        self.setting = setting
        given = { $0[setting].map(spelled) }
    }

    /// - Parameters:
    ///   - column: Its setting has the same name.
    ///   - range: The column's constraint allows the same.
    package static func duration(_ column: String, in range: ClosedRange<Duration>, help: String) -> Self {
        let setting = Setting<Duration>.duration(column, in: range, default: range.lowerBound, help: help)
        return Self(column, type: "interval", placeholder: setting.placeholder, help: help, parse: setting.parse) {
            "\(Int64($0 / .milliseconds(1))) milliseconds"
        }
    }

    /// - Parameters:
    ///   - column: Its setting has the same name.
    ///   - range: The column's constraint allows the same.
    package static func count(_ column: String, in range: ClosedRange<Int>, help: String) -> Self {
        let setting = Setting<Int>.int(column, in: range, default: range.lowerBound, help: help)
        return Self(column, type: "int", placeholder: setting.placeholder, help: help, parse: setting.parse) {
            "\($0)"
        }
    }
}
