import Foundation
import TestKit
import Testing

/// What the console says in the languages that it speaks, by its sources.
@Suite("The console's texts")
struct ConsoleTextsTests {
    private static let folder = Products.package.appending(path: "Services/SessionClient/Console")

    /// The modules of people's pages by their paths. Those for operators speak English.
    private static func modules() throws -> [String: String] {
        let paths = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        let people = paths.filter { $0.hasSuffix(".js") && !$0.hasPrefix("ops/") && $0 != "worker.js" }
        return try Dictionary(uniqueKeysWithValues: people.map { ($0, try read($0)) })
    }

    private static func read(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// What the service worker says, what pushes that it shows say, and what notifications say in the server's own words.
    private static func notifications() throws -> [String] {
        let pushes = try swift("Services/Notifications/Sending/Providers/PushText.swift").matches(
            of: /"([A-Z][^"\\]*)"/)
        let folder = "Services/SessionClient/Orchestration/Policies"
        let policies = try FileManager.default.contentsOfDirectory(
            atPath: Products.package.appending(path: folder).path
        ).map { "\(folder)/\($0)" }
        // Of numbers, the console knows one at most.
        let sentences = try (policies + ["Shared/Contracts/Notifications/DrillNotifications.swift"])
            .flatMap { try swift($0).matches(of: /"([A-Z][^"]* [^"]*)"/) }
            .map { String($0.1).replacing(/\\\(\w+\)/, with: "{0}") }
        let worker = try read("worker.js").matches(of: /say\('([^']+)'\)/)
        return pushes.map { String($0.1) } + sentences + worker.map { String($0.1) }
    }

    /// What the rules refuse with, and why devices were signed out.
    private static func refusals() throws -> [String] {
        let paths = try #require(
            FileManager.default.enumerator(atPath: Products.package.appending(path: "Services").path))
        let rules = paths.compactMap { $0 as? String }.filter { $0.contains("/Rules/") && $0.hasSuffix(".swift") }
        let sentences = try rules.flatMap { try swift("Services/\($0)").matches(of: /"([A-Z][^"]* [^"]*)"/) }
            .map { String($0.1).replacing(/\\\(\w+\)/, with: "{0}") }
        let reasons = try swift("Shared/Contracts/Session/SessionWords.swift").matches(of: /: "([a-z][^"]* [^"]*)"/)
        return try sentences + dailyTimes() + reasons.map { "Sign in again: \($0.1)." }
    }

    /// What daily times are refused with.
    private static func dailyTimes() throws -> [String] {
        try ["Shared/Contracts/Session/DailyTimes.swift", "Services/Session/Rules/Daily/DailyCheckIns.swift"]
            .flatMap { try swift($0).matches(of: /"([A-Z][^"]* [^"]*)"/) }.map { String($0.1) }
    }

    private static func swift(_ path: String) throws -> String {
        try String(contentsOf: Products.package.appending(path: path), encoding: .utf8)
    }

    private static func catalogue(_ language: String) throws -> [String: String] {
        try JSONDecoder().decode(
            [String: String].self, from: Data(contentsOf: folder.appending(path: "languages/\(language).json")))
    }

    private static func places(_ text: String) -> [String] {
        text.matches(of: /\{[^}]*\}/).map { String($0.0) }.sorted()
    }

    @Test("every text has one in every language, which shows the same, and no language has others")
    func catalogues() throws {
        let pages = try Self.modules().values.flatMap { ScriptLiterals($0).marked }
        let notifications = try Self.notifications()
        #expect(pages.count > 800 && notifications.count > 70)
        let texts = Set(pages + notifications)
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "languages").path)
        let source = try Self.read("core/language.js")
        let offered = try #require(source.firstMatch(of: /languages = \{ (.+) \}/)).1.matches(of: /(\w+): '/)
        #expect(Set(offered.map { "\($0.1)" }) == Set(files.map { String($0.prefix { $0 != "." }) } + ["en"]))
        for file in files {
            let catalogue = try Self.catalogue(String(file.prefix { $0 != "." }))
            for text in texts {
                guard let translation = catalogue[text] else {
                    Issue.record("\(file) lacks “\(text)”")
                    continue
                }
                #expect(Self.places(translation) == Self.places(text), "\(file): \(text)")
                #expect(!translation.isEmpty && translation.first?.isWhitespace == text.first?.isWhitespace, "\(text)")
            }
            // Refusals have names, because their English sentences come from the server. Of some, it says more than the name does.
            let others = Set(catalogue.keys).subtracting(texts).subtracting(try Self.refusals())
                .filter { !$0.hasPrefix("error.") }
            #expect(others == ["errors.program", "errors.refused", "errors.server", "errors.tooMany"], "\(file)")
        }
    }

    @Test("why daily times are refused is said in every language (A6, C7)")
    func refusedDailyTimes() throws {
        let sentences = try Self.dailyTimes()
        #expect(sentences.count == 7 && sentences.contains { $0.contains("no time zones") })
        let german = try Self.catalogue("de")
        for sentence in sentences { #expect(german[sentence]?.isEmpty == false, "\(sentence)") }
    }

    @Test("no sentence of a page goes past the catalogues")
    func unmarked() throws {
        for (path, source) in try Self.modules() where path != "state/catalogue.js" {
            let sentences = ScriptLiterals(source).others.filter {
                $0.contains(/’|…/) || $0.wholeMatch(of: /[A-Z][a-z]+([ .,:;!?].*)?/) != nil
            }
            #expect(Set(sentences).subtracting(Self.names) == [], "\(path)")
        }
    }

    /// Names of keys, browsers, systems and languages, and what is for programs alone.
    private static let names: Set<String> = [
        "Enter", "Firefox", "Edg", "Edge", "Chrome", "Safari", "Android", "Windows", "Mac", "Linux", "Browser",
        "Quartet", "English", "Deutsch", "Bearer {}", "Date", "The page won’t open without a network:",
    ]

    @Test("texts of scripts are found wherever they stand")
    func scanner() {
        let literals = ScriptLiterals(
            """
            // t`no text`, isn't one
            const pattern = /[`'/]+/g, half = a / b /* ' */
            say(t`Hello ${name ? `${name}, ${t`friend`}` : 'nobody'}: ${{ a: t`one` }[key]}!`, 'it’s', at`x`)
            """)
        #expect(literals.marked == ["friend", "one", "Hello {0}: {1}!"])
        #expect(literals.others == ["{}, {}", "nobody", "it’s", "x"])
    }
}
