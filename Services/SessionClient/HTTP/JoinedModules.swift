/// The modules of a page as one script, so that a browser waits for one answer instead of sixty.
///
/// Each module becomes a function that runs once and returns what the module exports, and comes after those that it imports. In a
/// browser's console, `(await import(document.scripts[0].src)).modules` has them all by their paths. Of the forms of `import`
/// and `export`, only those that the console uses are understood. Comments that have their lines to themselves are left out: they
/// would be a fifth of what a browser waits for. So is what lines are indented by, for which a template literal has to end in the line
/// in which it begins.
enum JoinedModules {
    /// A module that can't be joined to others.
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - entry: The path of the module that the page starts with, as in `app.js`.
    ///   - sources: The modules by their paths.
    /// - Throws: ``Refused`` if one is missing, imports itself by way of others or what isn't exported,
    ///   or has another form.
    static func joined(from entry: String, _ sources: [String: String]) throws -> String {
        var joined = "export const modules = {}\n"
        var states: [String: Bool] = [:]
        var exports: [String: Set<String>] = [:]
        let forms = Forms()
        func add(_ path: String, for importer: String) throws {
            guard let isDone = states[path] else {
                guard let source = sources[path] else {
                    throw Refused(description: "\(importer) imports \(path), which isn't there")
                }
                states[path] = false
                let module = try Module(path, source, forms)
                for (imported, names) in module.imports {
                    try add(imported, for: path)
                    // In a browser that would be an error; here it would only be undefined.
                    if let name = names.first(where: { exports[imported]?.contains($0) != true }) {
                        throw Refused(description: "\(path) imports \(name) from \(imported), which doesn't export it")
                    }
                }
                joined += module.text
                exports[path] = module.exports
                states[path] = true
                return
            }
            if !isDone { throw Refused(description: "\(importer) imports \(path), which imports it in turn") }
        }
        try add(entry, for: "the page")
        return joined
    }

    /// What is understood. To read an expression takes longer than to match it.
    private struct Forms {
        let imported = /import \{ (.+) \} from '(.+)'/
        let exported = /export (?:(?:async )?function|class|const) (\w+)/
    }

    private struct Module {
        /// The modules that it needs, by path, and what of them.
        private(set) var imports: [(path: String, names: [String])] = []
        private(set) var exports: Set<String> = []
        /// What takes its place.
        private(set) var text = ""

        init(_ path: String, _ source: String, _ forms: Forms) throws {
            var exports: [String] = []
            var lines: [String] = []
            var isInComment = false
            // By bytes: to look for the ends of characters first would take most of an edge's start.
            for bytes in source.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                let line = Substring(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes)
                let text = Substring(line.utf8.drop { $0 == UInt8(ascii: " ") })
                if isInComment || text.hasPrefix("/**") {
                    isInComment = !text.hasSuffix("*/")
                } else if text.hasPrefix("// ") {
                    continue
                } else if line.hasPrefix("import") {
                    guard let found = line.wholeMatch(of: forms.imported) else {
                        throw Self.refused(line, path)
                    }
                    let imported = Self.resolved(found.2, from: path)
                    let names = found.1.split(separator: ",").compactMap { $0.split(separator: " ").first }
                    imports.append((imported, names.map(String.init)))
                    lines.append("const { \(found.1.replacing(" as ", with: ": ")) } = modules['\(imported)']")
                } else if line.hasPrefix("export") {
                    guard let found = line.prefixMatch(of: forms.exported) else {
                        throw Self.refused(line, path)
                    }
                    exports.append(String(found.1))
                    lines.append(String(line.dropFirst("export ".count)))
                } else {
                    guard text.utf8.count(where: { $0 == UInt8(ascii: "`") }).isMultiple(of: 2) else {
                        throw Self.refused(line, path)
                    }
                    lines.append(String(text))
                }
            }
            self.exports = Set(exports)
            text = """
                modules['\(path)'] = (() => {
                \(lines.joined(separator: "\n"))
                return { \(exports.joined(separator: ", ")) }
                })()

                """
        }

        private static func refused(_ line: Substring, _ path: String) -> Refused {
            Refused(description: "\(path): «\(line)» can't be joined; see JoinedModules for the forms that can")
        }

        /// `../core/view.js` in `pages/home.js` is `core/view.js`.
        private static func resolved(_ reference: Substring, from path: String) -> String {
            var parts = path.split(separator: "/").dropLast()
            for part in reference.split(separator: "/") {
                switch part {
                case ".": continue
                case "..": parts = parts.dropLast()
                default: parts.append(part)
                }
            }
            return parts.joined(separator: "/")
        }
    }
}
