import Configuration
import Foundation

/// The values of all settings of a process, from its flags, else its environment, else the defaults. Read and checked
/// once, at the start.
package struct Settings: Sendable {
    /// Some settings can't be used.
    package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence for each problem.
        package let problems: [String]

        package var description: String { problems.joined(separator: "\n") }
    }

    private let values: [String: any Sendable]

    /// - Parameters:
    ///   - arguments: Flags with their values: `--key value` or `--key=value`.
    ///   - environment: Environment variables. An empty one counts as missing.
    /// - Throws: ``Refusal`` with all problems, not only the first.
    package init(
        _ declared: [any SettingDeclaration], arguments: [String] = [], environment: [String: String] = [:]
    ) throws(Refusal) {
        var problems: [String] = []
        let flags = Self.flags(in: arguments, declared: declared, problems: &problems)
        let files = Self.files(in: environment, declared: declared, problems: &problems)
        let reader = ConfigReader(providers: [
            InMemoryProvider(name: "flags", values: flags),
            InMemoryProvider(name: "files", values: files),
            EnvironmentVariablesProvider(
                environmentVariables: environment.filter { !$0.value.isEmpty },
                secretsSpecifier: .specific(Set(declared.filter(\.isSecret).map(\.variable)))),
        ])
        var values: [String: any Sendable] = [:]
        for setting in declared {
            let text = reader.string(forKey: ConfigKey(setting.key), isSecret: setting.isSecret)
            do throws(SettingProblem) {
                values[setting.key] = try setting.value(of: text)
            } catch {
                let found = setting.isSecret ? "" : ", not '\(text ?? "")'"
                let names = setting.isSecret ? setting.variable : "\(setting.flag) (\(setting.variable))"
                problems.append("\(names) must be \(error.expected)\(found)")
            }
        }
        guard problems.isEmpty else { throw Refusal(problems: problems) }
        self.values = values
    }

    /// The value of a setting, which must be declared.
    package subscript<Value>(_ setting: Setting<Value>) -> Value {
        guard let value = values[setting.key] as? Value else {
            preconditionFailure("setting \(setting.key) was read but not declared")
        }
        return value
    }

    /// Parses the flags. Each must be declared, have a value, and occur at most once.
    private static func flags(
        in arguments: [String], declared: [any SettingDeclaration], problems: inout [String]
    ) -> [AbsoluteConfigKey: ConfigValue] {
        let known = Dictionary(declared.map { ($0.flag, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [AbsoluteConfigKey: ConfigValue] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let setting = known[parts[0]] else {
                problems.append("unknown setting '\(parts[0])'; see --help")
                // The word after an unknown flag is probably its value.
                if parts.count == 1, parts[0].hasPrefix("--"), rest.first?.hasPrefix("--") == false {
                    rest.removeFirst()
                }
                continue
            }
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                problems.append("\(setting.flag) needs a value: \(setting.flag) \(setting.placeholder)")
                continue
            }
            guard !setting.isSecret else {
                problems.append(
                    "\(setting.flag) would show a secret to everyone on this machine; set \(setting.variable), "
                        + "or \(setting.variable)_FILE to the path of a file that contains it")
                continue
            }
            let key = AbsoluteConfigKey(ConfigKey(setting.key))
            if found.updateValue(ConfigValue(.string(value), isSecret: false), forKey: key) != nil {
                problems.append("\(setting.flag) occurs twice")
            }
        }
        return found
    }

    /// Reads the files that the environment names for secrets.
    private static func files(
        in environment: [String: String], declared: [any SettingDeclaration], problems: inout [String]
    ) -> [AbsoluteConfigKey: ConfigValue] {
        var found: [AbsoluteConfigKey: ConfigValue] = [:]
        for setting in declared where setting.isSecret {
            guard let path = environment[setting.variable + "_FILE"], !path.isEmpty else { continue }
            do {
                let text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
                found[AbsoluteConfigKey(ConfigKey(setting.key))] = ConfigValue(.string(text), isSecret: true)
            } catch {
                problems.append("\(setting.variable)_FILE: \(path) can't be read: \(error.localizedDescription)")
            }
        }
        return found
    }
}
