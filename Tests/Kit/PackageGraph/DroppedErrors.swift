import Foundation

/// Errors that nobody looks at: a `try?` whose value isn't taken either, and a `catch` of everything that does nothing. Each of them
/// has a reason of its own in a list that says why nothing is lost. The same for effects of an app's store that have no id, so that
/// nothing can replace or cancel them.
///
/// It reads lines. A `try?` that stands alone, or first in braces, drops its error; in braces of `map` and its kind, it gives a
/// value. It doesn't see the error of a task that nobody awaits, nor an `if let` of a `try?` without an `else`.
struct DroppedErrors: Sendable {
    /// A call whose error may be dropped in a file, or an effect that needs no id. Each allows one; a file that drops the error of the
    /// same call twice needs two.
    struct Reason: Sendable {
        /// With its path in the package.
        let file: String
        /// What is tried, up to its parentheses; `catch`, or `run` for an effect.
        let call: String
        let reason: String

        init(_ file: String, _ call: String, _ reason: String) {
            (self.file, self.call, self.reason) = (file, call, reason)
        }
    }

    /// They fail only where a task is cancelled, which whoever cancels it knows.
    private static let waits: Set = [
        "gracefulShutdown", "self.sleep", "self.time.sleep", "sleep", "Task.sleep", "time.sleep",
    ]

    let violations: [String]

    init(files: [PackageGraph.File], reasons: [Reason] = DroppedErrors.reasons) {
        var unused = reasons
        var found: [String] = []
        for file in files {
            for (line, call) in Self.calls(in: file) {
                if let index = unused.firstIndex(where: { $0.file == file.path && $0.call == call }) {
                    unused.remove(at: index)
                } else {
                    let fault = call == "run" ? "an effect has no id" : "the error of \(call) is dropped"
                    found.append("\(file.path):\(line): \(fault), without a reason in DroppedErrors.reasons")
                }
            }
        }
        violations = found + unused.map { "\($0.file): \($0.call): the list has a reason for what isn't there" }
    }

    // MARK: Reading

    private static func calls(in file: PackageGraph.File) -> [(line: Int, call: String)] {
        var found: [(line: Int, call: String)] = []
        var former = ""
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let code = line.trimmingCharacters(in: .whitespaces)
            guard !code.hasPrefix("//") else { continue }
            let isEmptyCatch = code.hasSuffix("catch {}") || former.hasSuffix("catch {") && code == "}"
            let calls = dropped(in: code, after: former) + (isEmptyCatch ? ["catch"] : []) + effects(in: code)
            found += calls.map { (line: index + 1, call: $0) }
            former = code
        }
        return found
    }

    /// What a line tries without taking the value.
    private static func dropped(in code: String, after former: String) -> [String] {
        guard code.contains("try? ") else { return [] }
        return code.ranges(of: "try? ").compactMap { range -> String? in
            let before = code[..<range.lowerBound].trimmingCharacters(in: .whitespaces)
            let after = code[range.upperBound...]
            let call = String(
                (after.hasPrefix("await ") ? after.dropFirst("await ".count) : after)
                    .prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "?" || $0 == "_" })
            return isDropped(before, after: former) && !waits.contains(call) ? call : nil
        }
    }

    /// Whether the value of a `try?` behind this is for nobody.
    private static func isDropped(_ before: String, after former: String) -> Bool {
        if before.isEmpty { return !["(", ",", "="].contains { former.hasSuffix($0) } && !isMapping(former) }
        if before.hasSuffix("_ =") || before.hasSuffix(";") { return true }
        if before.hasSuffix(":"), before.hasPrefix("case ") || before.hasPrefix("default") { return true }
        return (before.hasSuffix("{") || before.hasSuffix(" in")) && !isMapping(before)
    }

    /// Whether these braces return what is in them to a `map`, or to the reader of a property.
    private static func isMapping(_ before: String) -> Bool {
        guard let brace = before.lastIndex(of: "{") else { return false }
        let head = before[..<brace].replacing("(", with: "").trimmingCharacters(in: .whitespaces)
        return head.lowercased().hasSuffix("map") || head.hasSuffix("get") || head.hasSuffix("get async")
    }

    private static func effects(in code: String) -> [String] {
        let hasNone = ["return .run {", ": .run {", "(.run {", ", .run {"].contains { code.contains($0) }
        return hasNone ? ["run"] : []
    }
}

extension DroppedErrors {
    /// The sources of the package in a folder, without those that are generated.
    init(package: URL) throws {
        let files = try ["Services", "Shared"].flatMap {
            try PackageGraph.File.below(package.appending(path: $0), named: $0)
        }
        self.init(files: files.filter { !$0.path.hasPrefix("Shared/API/Proto/") })
    }
}
