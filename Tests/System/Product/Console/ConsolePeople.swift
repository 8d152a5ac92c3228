import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// People with browsers, and the console that they open.
struct Console: Sendable {
    let quartet: Quartet
    private let driver: WebDriver

    /// Each has processes of its own and up to three browsers, on a machine that runs other tests as well.
    private static let room = Room(for: 1)

    /// Runs `body` with the four services and a driver for browsers.
    /// - Parameters:
    ///   - forOperators: Whether operators are configured.
    ///   - environment: More settings of session-client, where they aren't.
    static func with(
        forOperators: Bool = false, environment: [String: String] = [:], _ body: (Console) async throws -> Void
    ) async throws {
        func open(_ quartet: Quartet) async throws {
            try await WebDriver.with { try await body(Console(quartet: quartet, driver: $0)) }
        }
        try await room.use {
            if forOperators {
                try await Quartet.withOperators(open)
            } else {
                try await Quartet.withPhones(environment: environment, open)
            }
        }
    }

    /// The same with a program that plays browsers' push services.
    static func with(pushes: PushServices, _ body: (Console) async throws -> Void) async throws {
        try await room.use {
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: pushes.environment)
                try await quartet.start(
                    .sessionClient, environment: ["PUSH_WEB_PUBLIC_KEY": try pushes.text("vapid.pub")])
                try await WebDriver.with { try await body(Console(quartet: quartet, driver: $0)) }
            }
        }
    }

    /// A browser that nobody has used.
    func browser(names: [String] = []) async throws -> Browser {
        try await Browser.open(driver, names: names) { try quartet.url }
    }

    /// A browser in which somebody has made an account: by the wizard, as people do.
    func newPerson(_ handle: String, name: String) async throws -> Browser {
        let browser = try await browser()
        try await browser.makeAccount(handle, name: name)
        return browser
    }

    /// A browser in which an account that exists is signed in.
    func person(_ handle: String) async throws -> Browser {
        let browser = try await browser()
        try await browser.go("/")
        try await browser.signIn(handle)
        return browser
    }

    // MARK: Group sessions

    /// Begins a session in which contacts may join, and returns its id.
    func begin(_ page: Browser) async throws -> String {
        try await page.click("Together")
        try await page.click("Start")
        try await page.see("Participants (1)")
        let path = try await page.run("return location.pathname").string ?? ""
        return try #require(path.split(separator: "/").last.map(String.init))
    }

    /// Joins the session that is offered, in which one person is.
    func join(_ page: Browser) async throws {
        try await page.click("Together")
        try await page.click("Join with 1 player")
        try await page.see("Participants (2)")
    }

    /// Expects that pages have the state of a group session that the server has: folded from its events, or as it was when
    /// they came.
    func expectSameGroup(_ group: String, _ pages: Browser...) async throws {
        for page in pages {
            let states = try await page.runModules(["core/model.js", "net/api.js"], Self.groupStates, .string(group))
            #expect(states[0] == states[1])
        }
    }

    /// Here and there, as texts; the order of lists of people and files means nothing.
    private static let groupStates = """
        const sorted = (value, name) => Array.isArray(value)
            ? (name === 'queue' ? value : value.toSorted((left, right) => (left.id < right.id ? -1 : 1))).map((one) => sorted(one))
            : value && typeof value === 'object'
                ? Object.fromEntries(Object.keys(value).filter((key) => value[key] !== undefined).sort().map((key) => [key, sorted(value[key], key)]))
                : value;
        const { model } = m['core/model.js'], { read } = m['net/api.js'];
        return [model.replica.group.get(argument), await read('/v1/groups/' + argument)].map((state) => JSON.stringify(sorted(state)));
        """

    /// kill -9 of the edge, whose address stays when it comes back.
    func restartEdge(_ whileAway: () async throws -> Void) async throws {
        let port = try await quartet.edgePort()
        try await quartet.kill(.sessionClient)
        try await whileAway()
        try await quartet.start(.sessionClient, port: port)
    }
}

extension Browser {
    /// Expects that nothing went wrong in the page: no exception, and nothing that the policy forbids.
    func expectNoErrors() async throws {
        let errors = try await errors()
        #expect(errors == [])
    }

    /// Runs a script with modules of the page, as `m['core/time.js']`. Paths begin at the folder of the page's first module.
    @discardableResult
    func runModules(_ paths: [String], _ script: String, _ argument: JSON = .null) async throws -> JSON {
        try await runAsync(
            """
            const script = document.querySelector('script[type=module]').src, { modules } = await import(script);
            const folder = script.split('/').slice(5, -1).map((part) => part + '/').join('');
            const m = Object.fromEntries(args[0].map((path) => [path, modules[folder + path]]));
            const argument = args[1];
            \(script)
            """, .array(paths.map(JSON.string)), argument)
    }
}
