/// The text that `--help` prints, made from the declared settings.
struct HelpText: CustomStringConvertible {
    var name: String
    var summary: String
    var commands: [(name: String, help: String)]
    var settings: [any SettingDeclaration]
    /// The settings of single commands, each list under its heading.
    var others: [(heading: String, settings: [any SettingDeclaration])] = []

    var description: String {
        var lines = ["Usage: \(name) COMMAND [--setting VALUE]...", "", summary, "", "Commands"]
        for command in commands {
            lines.append("  " + padded(command.name, to: 13) + command.help)
        }
        lines.append("  " + padded("--version", to: 13) + "Print the version.")
        lines += ["", "Settings, as flags or environment variables; flags win"]
        for setting in settings { lines += described(setting) }
        for (heading, settings) in others where !settings.isEmpty {
            lines += ["", heading]
            for setting in settings { lines += described(setting) }
        }
        return lines.joined(separator: "\n")
    }

    private func described(_ setting: any SettingDeclaration) -> [String] {
        let names =
            setting.isSecret
            ? "\(setting.variable), or \(setting.variable)_FILE with the path of a file that contains it"
            : padded("\(setting.flag) \(setting.placeholder)", to: 40) + setting.variable
        let shown = setting.shownDefault.map { " Default: \($0)." } ?? ""
        return ["", "  " + names] + wrapped(setting.help + shown, width: 84).map { "      \($0)" }
    }

    private func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(2, width - text.count))
    }

    private func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
