import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// People with browsers, and the console that they open.
struct Console: Sendable {
    let quartet: Quartet
    private let driver: WebDriver

    /// Each has processes of its own and up to two browsers, on a machine that runs other tests as well.
    private static let room = Room(for: 1)

    /// Runs `body` with the four services and a driver for browsers.
    /// - Parameter forOperators: Whether operators are configured.
    static func with(forOperators: Bool = false, _ body: (Console) async throws -> Void) async throws {
        func open(_ quartet: Quartet) async throws {
            try await WebDriver.with { try await body(Console(quartet: quartet, driver: $0)) }
        }
        try await room.use {
            if forOperators { try await Quartet.withOperators(open) } else { try await Quartet.with(open) }
        }
    }

    /// A browser that nobody has used.
    func browser(names: [String] = []) async throws -> Browser {
        try await Browser.open(driver, names: names) { try quartet.url }
    }

    /// A browser in which somebody has made an account: by the wizard, as people do.
    func newPerson(_ handle: String, name: String) async throws -> Browser {
        let browser = try await browser()
        try await browser.go("/")
        try await browser.click("Create an account")
        try await browser.fill("Handle", handle)
        try await browser.fill("Password", Self.password)
        try await browser.click("Next")
        try await browser.fill("Name", name)
        try await browser.click("Create account")
        try await browser.see("Remind me")
        try await browser.click("Skip")
        try await browser.see("Connected")
        return browser
    }

    /// A browser in which an account that exists is signed in.
    func person(_ handle: String) async throws -> Browser {
        let browser = try await browser()
        try await browser.go("/")
        try await browser.click("Sign in")
        try await browser.fill("Handle", handle)
        try await browser.fill("Password", Self.password)
        try await browser.click("Sign in")
        try await browser.see("Are you all right")
        try await browser.see("Connected")
        return browser
    }

    static let password = "a long enough password"

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
    func expectNoErrors() async throws { #expect(try await errors() == []) }

    /// Imports modules of the console into the page and runs a script with them, as `m['core/time.js']`.
    @discardableResult
    func runModules(_ paths: [String], _ script: String, _ argument: JSON = .null) async throws -> JSON {
        try await runAsync(
            """
            const base = document.querySelector('script[type=module]').src.replace('app.js', '');
            const m = {};
            for (const path of args[0]) m[path] = await import(base + path);
            const argument = args[1];
            \(script)
            """, .array(paths.map(JSON.string)), argument)
    }
}
