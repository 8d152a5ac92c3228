import Foundation

/// Keeps pure what decides: the services' rules, session-client's orchestration, and the folds by which apps keep their copies. Time,
/// ids and rows come to them with what they are asked, so the same question has the same answer, in a test and in a replay.
///
/// The compiler keeps PostgreSQL and the bus from them (``PackageGraph``). This finds what every module can reach: a clock,
/// randomness, files, output, tasks and locks. It doesn't see where the order of a set or dictionary decides, which differs from
/// process to process.
struct Purity: Sendable {
    /// What must be pure, and which modules of other packages it may import.
    struct Area: Sendable {
        let path: String
        var modules: Set<String> = []
    }

    static let areas = [
        Area(path: "Services/Contacts/Rules"),
        Area(path: "Services/Notifications/Rules"),
        // For hashes.
        Area(path: "Services/Session/Rules", modules: ["Crypto"]),
        Area(path: "Services/SessionClient/Orchestration"),
        // For hashes and JSON.
        Area(path: "Shared/Contracts", modules: ["Crypto", "Foundation"]),
        Area(path: "Shared/Client/QuartetClient/State/Replica.swift"),
        Area(path: "Tests/Kit/Ledger/Rules"),
    ]

    /// A line that is allowed after all.
    struct Exception: Sendable {
        let code: String
        let reason: String
    }

    static let exceptions = [
        Exception(
            code: "public init(id: NotificationID = .new(), text: String, due: Instant) {",
            reason: "an app makes a reminder's id, once; rules and folds only read it")
    ]

    /// What gives it away, by what it is.
    private static let signs: [(what: String, texts: [String])] = [
        (
            "a clock",
            [
                " .now", "(.now", "Instant.now", "Date.now", "Date()", "ContinuousClock", "SuspendingClock",
                "DispatchTime", "clock_gettime", "gettimeofday", "timeIntervalSinceNow",
            ]
        ),
        (
            // The hashes of the standard library differ from process to process.
            "randomness",
            [
                ".new(", ".new)", "UUID()", "random(", "randomElement", "shuffle", "RandomNumberGenerator", "hashValue",
                "Hasher(", "SymmetricKey(size", "PrivateKey()",
            ]
        ),
        (
            "the outside",
            [
                " print(", "debugPrint(", "readLine(", "getenv(", "FileManager", "FileHandle", "ProcessInfo",
                "URLSession", "Logger", "contentsOfFile", "Data(contentsOf:", "String(contentsOf:", "UserDefaults",
                "TimeZone.current", "Locale.current", "Calendar.current", ".autoupdatingCurrent",
            ]
        ),
        (
            "a task or what tasks share",
            [
                " Task {", " Task.", "Task(", "TaskLocal", "Mutex", "Atomic", "nonisolated(unsafe)", "Dispatch",
                "Thread(",
            ]
        ),
    ]

    /// A saga awaits its steps, whatever performs them; nothing else waits.
    private static let waiting = (texts: [" async ", "await "], folder: "Services/SessionClient/Orchestration/Sagas/")

    let violations: [String]

    init(files: [PackageGraph.File], exceptions: [Exception] = Purity.exceptions) {
        var unused = Set(exceptions.map(\.code))
        var found = files.flatMap { file in
            Self.lines(of: file).flatMap { number, code -> [String] in
                let faults = Self.faults(in: code, of: file)
                if !faults.isEmpty, exceptions.contains(where: { $0.code == code }) {
                    unused.remove(code)
                    return []
                }
                return faults.map { "\(file.path):\(number): \($0), and what decides must be pure: \(code)" }
            }
        }
        found += files.flatMap { file -> [String] in
            let area = Self.areas.first { file.path == $0.path || file.path.hasPrefix($0.path + "/") }
            return file.imports.filter { line in
                !line.module.hasPrefix("Quartet") && line.module != "LedgerContract"
                    && area?.modules.contains(line.module) != true
            }
            .map { "\(file.path):\($0.line): \($0.module) is more than what decides may know" }
        }
        found += unused.sorted().map { "no such line needs an exception: \($0)" }
        violations = found
    }

    private static func faults(in code: String, of file: PackageGraph.File) -> [String] {
        let spaced = " \(code)"
        var faults = signs.flatMap { sign in
            sign.texts.filter { spaced.contains($0) }.prefix(1).map { _ in "it uses \(sign.what)" }
        }
        if !file.path.hasPrefix(waiting.folder), waiting.texts.contains(where: { spaced.contains($0) }) {
            faults.append("it waits")
        }
        return faults
    }

    /// The lines of code with their numbers, without comments and indentation.
    private static func lines(of file: PackageGraph.File) -> [(number: Int, code: String)] {
        file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let code = line.trimmingCharacters(in: .whitespaces)
            guard !code.isEmpty, !code.hasPrefix("//"), !code.hasPrefix("import ") else { return nil }
            return (number: index + 1, code: code)
        }
    }
}

extension Purity {
    /// What must be pure in the package in a folder.
    init(package: URL) throws {
        self.init(
            files: try Self.areas.flatMap { area in
                guard area.path.hasSuffix(".swift") else {
                    return try PackageGraph.File.below(package.appending(path: area.path), named: area.path)
                }
                let text = try String(contentsOf: package.appending(path: area.path), encoding: .utf8)
                return [PackageGraph.File(path: area.path, text: text)]
            })
    }
}
