package import Foundation

/// SQL that several schemas share, such as a log with its partitions. A migration includes it with one line:
///
/// ```sql
/// --! include bus/log.sql schema=contacts log=log reader=session_client
/// ```
/// The template's text replaces the line, and the given values replace `{{schema}}` and so on. A value that is missing or
/// superfluous is an error, so that a typo can't become an empty name. Templates may include others, with values of their
/// own or with those they were given: `--! include bus/log.sql schema={{schema}} log=due`.
package struct MigrationTemplates: Sendable {
    private let text: @Sendable (_ name: String) throws(MigrationError) -> String

    /// - Parameter text: Returns the text of the template with a name such as `bus/log.sql`.
    package init(_ text: @Sendable @escaping (_ name: String) throws(MigrationError) -> String) {
        self.text = text
    }

    /// Templates in folders: `bus/log.sql` is the file `log.sql` of the folder for `bus`.
    package init(folders: [String: URL]) {
        self.init { name throws(MigrationError) in
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2, !parts[1].contains(".."), let folder = folders[parts[0]] else {
                throw .unreadable(
                    file: name,
                    reason: "templates are named \(folders.keys.sorted().map { "\($0)/….sql" }.joined(separator: ", "))"
                )
            }
            return try read(folder.appending(path: parts[1]))
        }
    }

    /// Replaces the includes of a migration's text.
    /// - Parameter file: The file's name, for errors.
    package func render(_ source: String, file: String) throws(MigrationError) -> String {
        var rendered: [String] = []
        for (index, line) in source.lines.enumerated() {
            let place = Place(file: file, line: index + 1)
            if line.hasPrefix("--!") {
                rendered.append(try include(String(line), at: place, within: []))
            } else if let name = line.firstPlaceholder {
                throw place.error("{{\(name)}} has no meaning outside a template")
            } else {
                rendered.append(String(line))
            }
        }
        return rendered.joined(separator: "\n")
    }

    private struct Place {
        var file: String
        var line: Int

        func error(_ reason: String) -> MigrationError {
            .badLine(file: file, line: line, reason: reason)
        }
    }

    private func values(of words: ArraySlice<String>, at place: Place) throws(MigrationError) -> [String: String] {
        var values: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, parts.allSatisfy(\.isWord) else {
                throw place.error("expected name=value of letters, digits and underscores, found '\(word)'")
            }
            guard values.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw place.error("\(parts[0]) occurs twice")
            }
        }
        return values
    }

    /// The text that an include line stands for.
    /// - Parameters:
    ///   - line: The line.
    ///   - place: Where the migration has it, or the include of the template that has it.
    ///   - outer: The templates that the line is in.
    private func include(
        _ line: String, at place: Place, within outer: [String]
    ) throws(MigrationError) -> String {
        let words = line.dropFirst(3).split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count >= 2, words[0] == "include" else {
            throw place.error("expected '--! include TEMPLATE name=value …', found '\(line)'")
        }
        let name = words[1]
        guard !outer.contains(name) else { throw place.error("template \(name) includes itself") }
        let values = try values(of: words.dropFirst(2), at: place)
        let template: String
        do {
            template = try text(name)
        } catch {
            throw place.error("template \(name): \(error)")
        }
        var unused = Set(values.keys)
        var rendered: [String] = []
        for (index, line) in template.lines.enumerated() {
            var line = String(line)
            while let placeholder = line.firstPlaceholder {
                guard let value = values[placeholder] else {
                    throw place.error("template \(name), line \(index + 1) needs \(placeholder)=…, which is missing")
                }
                unused.remove(placeholder)
                line = line.replacing("{{\(placeholder)}}", with: value)
            }
            rendered.append(line.hasPrefix("--!") ? try include(line, at: place, within: outer + [name]) : line)
        }
        guard unused.isEmpty else {
            throw place.error("template \(name) has no {{\(unused.sorted().joined(separator: "}}, {{"))}}")
        }
        return rendered.joined(separator: "\n")
    }
}

func read(_ file: URL) throws(MigrationError) -> String {
    do {
        return try String(contentsOf: file, encoding: .utf8)
    } catch {
        throw .unreadable(file: file.path, reason: error.localizedDescription)
    }
}

extension String {
    fileprivate var lines: [Substring] {
        split(separator: "\n", omittingEmptySubsequences: false)
    }

    fileprivate var isWord: Bool {
        !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}

extension StringProtocol {
    /// The name in the first `{{name}}`.
    fileprivate var firstPlaceholder: String? {
        guard let start = firstRange(of: "{{"), let end = self[start.upperBound...].firstRange(of: "}}") else {
            return nil
        }
        return String(self[start.upperBound..<end.lowerBound])
    }
}
