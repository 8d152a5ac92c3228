public import EdgeClient
import Foundation
import TestKit

/// A headless Chromium of its own: a person with a profile that nobody else has.
///
/// ```swift
/// let anna = try await Browser.open(driver, at: { try quartet.url })
/// try await anna.go("/contacts")
/// try await anna.click("Ping Bob")
/// try await anna.see("no answer yet")
/// ```
///
/// What is waited for is found by what people see: the text of a button, the label of a field.
public struct Browser: Sendable {
    private let driver: WebDriver
    private let session: String
    private let address: @Sendable () throws -> String

    /// - Parameters:
    ///   - address: Where the pages are, as in `http://127.0.0.1:8080`.
    ///   - names: Host names that lead to this machine, too.
    public static func open(
        _ driver: WebDriver, names: [String] = [], at address: @Sendable @escaping () throws -> String
    ) async throws -> Browser {
        let mapped = names.map { "MAP \($0) 127.0.0.1" }.joined(separator: ",")
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB",
            "--window-size=1280,900", "--host-resolver-rules=\(mapped)",
        ]
        let session = try await driver.open([
            "browserName": "chrome", "acceptInsecureCerts": true, "timeouts": ["script": 240_000],
            "goog:loggingPrefs": ["browser": "ALL"],
            "goog:chromeOptions": ["args": .array(arguments.map(JSON.string))],
        ])
        return Browser(driver: driver, session: session, address: address)
    }

    @discardableResult
    private func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        try await driver.send(method, "/session/\(session)\(path)", body)
    }

    // MARK: Pages and windows

    /// Opens a page by its path.
    public func go(_ path: String) async throws { try await go(to: try address() + path) }
    public func go(to url: String) async throws { try await send("POST", "/url", ["url": .string(url)]) }
    public func reload() async throws { try await send("POST", "/refresh", [:]) }
    public func back() async throws { try await send("POST", "/back", [:]) }

    /// Opens one more tab and goes on there.
    @discardableResult
    public func newTab() async throws -> String {
        let handle = try await send("POST", "/window/new", ["type": "tab"])["handle"].string ?? ""
        try await show(tab: handle)
        return handle
    }
    public func tab() async throws -> String { try await send("GET", "/window").string ?? "" }
    public func show(tab: String) async throws { try await send("POST", "/window", ["handle": .string(tab)]) }
    public func closeTab() async throws { try await send("DELETE", "/window") }

    /// Runs a script in each page that this tab opens from now on, before the page's own.
    public func prepare(_ script: String) async throws {
        try await chromium("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
    }

    // MARK: Scripts

    /// Runs the body of a function in the page.
    @discardableResult
    public func run(_ script: String, _ arguments: JSON...) async throws -> JSON {
        try await send("POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    /// Runs the body of an async function in the page, and waits for its result.
    @discardableResult
    public func runAsync(_ script: String, _ arguments: JSON...) async throws -> JSON {
        let body = """
            const done = arguments[arguments.length - 1];
            (async (...args) => { \(script) })(...[...arguments].slice(0, -1))
                .then((value) => done({ value }), (error) => done({ error: String(error.stack ?? error) }))
            """
        let reply = try await send("POST", "/execute/async", ["script": .string(body), "args": .array(arguments)])
        if let error = reply["error"].string { throw WebDriver.Refused(code: "javascript error", description: error) }
        return reply["value"]
    }

    /// Waits until an expression is true in the page; asked again at each change of the page, and four times a second
    /// for what changes without it: pictures that have come, times that have passed.
    /// - Returns: Its value.
    /// - Throws: `TimedOut`, with what the page shows.
    @discardableResult
    public func wait(_ what: String, _ expression: String, _ arguments: JSON...) async throws -> JSON {
        let body = """
            const done = arguments[arguments.length - 1], found = () => { try { return \(expression) } catch { return false } };
            const first = found();
            if (first) return done({ value: first });
            const end = (reply) => { observer.disconnect(); clearInterval(again); clearTimeout(stop); done(reply) };
            const look = () => { const value = found(); if (value) end({ value }) };
            const stop = setTimeout(() => end({ text: document.body.innerText }), 120000);
            const again = setInterval(look, 250);
            const observer = new MutationObserver(look);
            observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
            """
        while true {
            do {
                let reply = try await send(
                    "POST", "/execute/async", ["script": .string(body), "args": .array(arguments)])
                if case .string(let text) = reply["text"] {
                    try await screenshot("failure")
                    throw TimedOut("waited two minutes for \(what), which did not happen; the page shows:\n\(text)")
                }
                return reply["value"]
            } catch let error as WebDriver.Refused where error.description.contains("unloaded") {
                // Another page is shown now.
                continue
            }
        }
    }

    // MARK: What people see and do

    public func see(_ text: String) async throws {
        try await wait("“\(text)”", "document.body.innerText.includes(arguments[0])", .string(text))
    }
    public func notSee(_ text: String) async throws {
        try await wait("“\(text)” to go", "!document.body.innerText.includes(arguments[0])", .string(text))
    }

    /// Clicks a button or a link, in the dialog if one is open.
    public func click(_ name: String) async throws {
        try await use({ try await button(name) }, click)
    }

    private func button(_ name: String) async throws -> JSON {
        try await wait(
            "a button “\(name)”",
            """
            [...(document.querySelector('dialog[open]') ?? document).querySelectorAll('button, a, summary')].find((one) =>
                !one.disabled && (one.hasAttribute('aria-label') ? one.getAttribute('aria-label') === arguments[0]
                    : [one, ...one.children].some((part) => part.innerText?.trim() === arguments[0])))
            """, .string(name))
    }

    /// Clicks a button that asks whether it is meant, and the button of the same name that says yes.
    public func confirm(_ name: String) async throws {
        try await click(name)
        try await wait("a question after “\(name)”", "document.querySelector('dialog[open]') !== null")
        try await click(name)
    }

    /// Turns a switch, or opens a list of choices.
    public func toggle(_ label: String) async throws { try await use({ try await field(label) }, click) }

    /// Types into a field, in place of what was there.
    public func fill(_ label: String, _ text: String) async throws {
        try await use(
            { try await field(label) },
            { field in
                try await run("arguments[0].focus(); arguments[0].select()", field)
                try await type(text, into: field)
            })
    }

    /// Chooses a file of this machine.
    public func attach(_ label: String, _ path: String) async throws {
        try await use({ try await field(label) }, { try await type(path, into: $0) })
    }

    private func type(_ text: String, into field: JSON) async throws {
        try await send("POST", "/element/\(try Self.id(of: field))/value", ["text": .string(text)])
    }

    public func choose(_ label: String, _ value: String) async throws {
        // Choices may come later than their list.
        try await wait(
            "the choice \(value)",
            "[...document.querySelectorAll('option')].some((one) => one.value === \(JSON.string(value)))")
        try await run(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', { bubbles: true }))",
            await field(label), .string(value))
    }

    /// Presses keys where the focus is.
    public func press(_ keys: String) async throws {
        let actions = keys.flatMap { key -> [JSON] in
            ["keyDown", "keyUp"].map { ["type": .string($0), "value": .string(String(key))] }
        }
        try await send("POST", "/actions", ["actions": [["type": "key", "id": "keys", "actions": .array(actions)]]])
    }

    private func field(_ label: String) async throws -> JSON {
        try await wait(
            "a field “\(label)”",
            """
            [...(document.querySelector('dialog[open]') ?? document).querySelectorAll('label')]
                .find((one) => one.innerText.trim().split('\\n')[0] === arguments[0])?.control
            """, .string(label))
    }

    /// Does something with an element; with the one in its place, if the page was drawn again meanwhile, or a dialog opened.
    private func use(_ find: () async throws -> JSON, _ body: (JSON) async throws -> Void) async throws {
        var intercepted = 0
        while true {
            do {
                return try await body(find())
            } catch let error as WebDriver.Refused
                where error.code == "stale element reference" || error.description.contains("unloaded")
            {
                continue
            } catch let error as WebDriver.Refused where error.code == "element click intercepted" && intercepted < 3 {
                intercepted += 1
            }
        }
    }

    /// Clicks an element; again, up to three times, if it moved away while the button went down, as a person would.
    private func click(_ element: JSON) async throws {
        for _ in 0..<3 {
            // What was changed before is drawn first, so that nothing moves between pressing the button and letting it go.
            try await runAsync(
                """
                const drawn = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 200) });
                await drawn();
                args[0].scrollIntoView({ block: 'center' });
                await drawn();
                await drawn();
                const nameOf = (one) => one.getAttribute('aria-label') ?? one.innerText;
                const name = nameOf(args[0]);
                window.isMissed = true;
                removeEventListener('click', window.watchClick, true);
                // Drawn anew meanwhile, it is another element of the same name: clicked twice, a switch would be as it was.
                window.watchClick = ({ target }) => {
                    const hit = target.closest('button, a, summary, label, input, select');
                    const isNew = hit && name && !args[0].isConnected && nameOf(hit) === name;
                    if (args[0].contains(target) || isNew) window.isMissed = false;
                };
                addEventListener('click', window.watchClick, true);
                """, element)
            try await send("POST", "/element/\(try Self.id(of: element))/click", [:])
            // Another page knows nothing of it: it was the click that led there.
            if try await run("return window.isMissed") != true { return }
            print("a click missed its button")
        }
    }

    private static func id(of element: JSON) throws -> String {
        guard let id = element["element-6066-11e4-a52e-4f735466cecf"].string else { throw Unexpected(element) }
        return id
    }

    // MARK: How it looks

    /// How wide the window is, whether the system's colours are dark, and whether its user asked for less motion.
    public func look(width: Int, height: Int = 844, isDark: Bool = false, isStill: Bool = false) async throws {
        try await chromium(
            "Emulation.setDeviceMetricsOverride",
            ["width": .int(Int64(width)), "height": .int(Int64(height)), "deviceScaleFactor": 1, "mobile": false])
        try await chromium(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"],
                    ["name": "prefers-reduced-motion", "value": isStill ? "reduce" : "no-preference"],
                ]
            ])
    }

    /// The rules of axe-core that the page breaks, each with the first elements that do.
    public func accessibilityProblems() async throws -> [String] {
        let axe = Products.package.appending(path: "Tests/Kit/WebDriver/axe-core/axe.min.js")
        if try await run("return window.axe === undefined").isTrue {
            try await run(String(contentsOf: axe, encoding: .utf8))
        }
        return try await runAsync(
            """
            // Colours in transition would be measured wrong. An animation that is cut off by a change of the width never reports its end.
            const finished = document.getAnimations().filter((one) => one.effect.getTiming().iterations < 9).map((one) => one.finished);
            await Promise.race([Promise.allSettled(finished), new Promise((done) => { setTimeout(done, 3000) })]);
            const { violations } = await axe.run(document, { resultTypes: ['violations'] });
            return violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' ')}`);
            """
        ).array.compactMap(\.string)
    }

    /// Forgets every file that it kept.
    public func forgetFiles() async throws {
        try await chromium("Network.enable", [:])
        try await chromium("Network.clearBrowserCache", [:])
        // One may be on its way.
        try await runAsync(
            """
            if (!navigator.serviceWorker) return;
            await Promise.race([navigator.serviceWorker.ready, new Promise((done) => { setTimeout(done, 3000) })]);
            for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
            for (const name of await caches.keys()) await caches.delete(name);
            """)
    }

    /// Slows the page's scripts down, as many times.
    public func slowDown(_ times: Int64) async throws {
        try await chromium("Emulation.setCPUThrottlingRate", ["rate": .int(times)])
    }

    /// Makes each answer of the network take so many milliseconds.
    public func delay(milliseconds: Int64) async throws {
        try await chromium("Network.enable", [:])
        try await chromium(
            "Network.emulateNetworkConditions",
            ["offline": false, "latency": .int(milliseconds), "downloadThroughput": -1, "uploadThroughput": -1])
    }

    /// Cuts the network off, or gives it back.
    public func setOffline(_ isOffline: Bool) async throws {
        try await chromium("Network.enable", [:])
        try await chromium(
            "Network.emulateNetworkConditions",
            ["offline": .bool(isOffline), "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1])
    }

    /// Freezes the tab as browsers do with those in the background, or lets it go on.
    public func freeze(_ isFrozen: Bool) async throws {
        try await chromium("Page.setWebLifecycleState", ["state": isFrozen ? "frozen" : "active"])
    }

    /// Allows the pages to show notifications, or forbids it.
    public func allowNotifications(_ isAllowed: Bool = true) async throws {
        try await chromium(
            "Browser.setPermission",
            [
                "permission": ["name": "notifications"], "setting": isAllowed ? "granted" : "denied",
                "origin": .string(try address()),
            ])
    }

    /// Delivers a push to the service worker of the pages, as the browser's push service would.
    public func deliver(push text: String) async throws {
        // The first worker of a profile; nothing else has one here.
        try await chromium("ServiceWorker.enable", [:])
        try await chromium(
            "ServiceWorker.deliverPushMessage",
            ["origin": .string(try address()), "registrationId": "0", "data": .string(text)])
    }

    @discardableResult
    private func chromium(_ command: String, _ parameters: JSON) async throws -> JSON {
        try await send("POST", "/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    /// Keeps a picture of the window in `.local/screenshots`.
    public func screenshot(_ name: String) async throws {
        let folder = Products.package.appending(path: ".local/screenshots")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard let picture = Data(base64Encoded: try await send("GET", "/screenshot").string ?? "") else { return }
        try picture.write(to: folder.appending(path: "\(name).png"))
    }

    /// What went wrong in the page since the last time, besides requests that no server answered.
    public func errors() async throws -> [String] {
        try await send("POST", "/se/log", ["type": "browser"]).array
            .filter { $0["level"] == "SEVERE" && $0["source"] != "network" }.compactMap { $0["message"].string }
    }
}
