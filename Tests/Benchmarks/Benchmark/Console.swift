import EdgeClient
import Foundation
import TestKit
import WebDriver

/// How soon the console shows something, and what it costs to have a page for operators open: in a headless Chromium on the same
/// machine.
extension ProductBenchmark {
    private static var loads: Int { 9 }

    /// Runs the services for browsers, which speak HTTP/2 over TLS alone, and for operators.
    static func withConsole(_ server: Server, _ body: (ProductBenchmark) async throws -> Void) async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await with(server, settings: certificate.environment.merging(forOperators(server)) { $1 }, body)
    }

    func console(_ report: inout Report) async throws {
        let lists = try await WebDriver.with { try await self.lists(in: $0) }
        report.add("console_first_list_ms", lists.first.percentile(0.5), aim: "<= 1000")
        report.add("console_first_list_max_ms", lists.first.percentile(1))
        report.add("console_scroll_longest_task_ms", lists.longestTask, aim: "<= 50")
        report.add("console_scroll_longest_task_ms_slow", lists.longestTaskWhenSlow)
        let dashboard = try await WebDriver.with { try await self.dashboard(in: $0) }
        report.add("dashboard_core_percent", dashboard.shown, aim: "<= 1")
        report.add("dashboard_hidden_core_percent", dashboard.hidden, aim: "0")
    }

    /// The list of contacts at a fourth of the speed: the times from the request for a page, in a browser that has none of the
    /// files, until the list is painted, at 150 ms for each round trip, sorted. And the longest task while ten thousand scroll, at full
    /// speed and at a fourth.
    private func lists(
        in driver: WebDriver
    ) async throws -> (first: [Double], longestTask: Double, longestTaskWhenSlow: Double) {
        say("the first list of contacts, in a slow browser")
        let anna = try await Device.signUp("anna", name: "Anna", at: edge)
        let bob = try await Device.signUp("bob", name: "Bob", at: edge)
        let code = try await bob.read("/v1/contacts")["code"]
        try await anna.act("AddContact", ["code": code, "iAmResponder": true])
        let browser = try await browser(of: driver)
        try await browser.go("/")
        try await browser.signIn("anna")
        try await browser.prepare(Self.watch)
        try await browser.delay(milliseconds: 150)
        try await browser.slowDown(4)
        var times: [Double] = []
        for _ in 0..<Self.loads {
            try await browser.forgetFiles()
            try await browser.go("/contacts")
            let listed = try await browser.wait("the list", "window.listed")
            guard let time = listed.number else { throw Failure("the page says no time, but \(listed)") }
            times.append(time)
        }

        say("scrolling ten thousand contacts")
        try server.psql("quartet", ["-c", Crowd.strangers(9_999, of: anna.account, like: bob.account)])
        try await browser.go("/contacts")
        try await browser.see("10000")
        let longestWhenSlow = try await longestTask(scrolling: browser)
        try await browser.slowDown(1)
        return (times.sorted(), try await longestTask(scrolling: browser), longestWhenSlow)
    }

    private func longestTask(scrolling browser: Browser) async throws -> Double {
        let scrolled = try await browser.runAsync(Self.scroll)
        guard let longest = scrolled.number else { throw Failure("the page says no time, but \(scrolled)") }
        return longest
    }

    /// Notes when a contact is first painted.
    private static var watch: String {
        """
        new MutationObserver((_, observer) => {
            if (!document.querySelector('.row')) return;
            observer.disconnect();
            setTimeout(() => { window.listed = performance.now(); });
        }).observe(document, { subtree: true, childList: true });
        """
    }

    /// Scrolls from the top by a window's height in each frame, and says how long the longest task was; 0 if none took more than 50 ms.
    private static var scroll: String {
        """
        const tasks = [0];
        new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
            .observe({ entryTypes: ['longtask'] });
        const frame = () => new Promise(requestAnimationFrame);
        scrollTo(0, 0);
        for (let step = 0; step < 200; step++) {
            scrollBy(0, innerHeight);
            await frame();
            await frame();
        }
        await new Promise((done) => setTimeout(done, 500));
        return Math.max(...tasks);
        """
    }

    /// What the overview for operators adds to the share of a core that the edge and its database sessions take: while it is shown,
    /// and while it is open, but hidden.
    private func dashboard(in driver: WebDriver) async throws -> (shown: Double, hidden: Double) {
        say("the overview for operators")
        let browser = try await browser(of: driver)
        try await browser.open("/ops", withKey: try makeOperatorKey())
        try await browser.see("Health")
        try await browser.see("session_client")
        let shown = try await share(beside: browser, isAsking: true)
        // Where the page looks to see whether it is hidden.
        try await browser.run(
            """
            Object.defineProperty(document, 'hidden', { get: () => true });
            document.dispatchEvent(new Event('visibilitychange'));
            """)
        let hidden = try await share(beside: browser, isAsking: false)
        try await browser.go(to: "about:blank")
        let without = try await share(beside: browser, isAsking: false)
        return (shown - without, hidden - without)
    }

    /// The edge's share, in percent, while a page is open that asks, or doesn't.
    private func share(beside browser: Browser, isAsking: Bool) async throws -> Double {
        // What was asked before is answered.
        try await Task.sleep(for: .seconds(3))
        try await browser.run("performance.clearResourceTimings()")
        let share = try await edgeShare(for: .seconds(30))
        let requests = try await browser.run("return performance.getEntriesByType('resource').length").int ?? 0
        guard isAsking == (requests > 0) else { throw Failure("the page sent \(requests) requests meanwhile") }
        return share
    }

    private func browser(of driver: WebDriver) async throws -> Browser {
        try await Browser.open(driver) { [url] in url }
    }
}
