import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// How soon the console is there, as far as the number of things that it waits for says so, and whether it stays quick. How long
/// that takes is measured by Tests/Benchmarks.
@Suite("Console: speed", .timeLimit(.minutes(60)))
struct ConsoleSpeedTests {
    @Test(
        "over HTTP/2 the list of contacts is there after three round trips: the page, at most 100 kB of files all at once, the stream (C1)"
    )
    func roundTrips() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Console.with(environment: certificate.environment) { console in
            try await certificate.trusted { http in
                let url = try console.quartet.url
                let bob = try await Device.signUp("bob", name: "Bob", at: EdgeClient(http: http) { url })
                let anna = try await console.newPerson("anna", name: "Anna")
                try await anna.click("Contacts")
                try await anna.fill("Their code", try await bob.code())
                try await anna.click("Add")
                try await anna.see("Contact added")

                try await anna.prepare(Self.watch)
                try await anna.forgetFiles()
                try await anna.delay(milliseconds: 150)
                try await anna.go("/contacts")
                let files = try await anna.wait("the list", "window.files")
                #expect(files["protocols"] == ["h2"])
                #expect(files["late"] == [], "all files are asked for before the first is there")
                #expect(files["requests"] == [["GET", "/v1/stream"]])
                #expect(files["askedFirst"] == true, "drawing doesn't hold up the stream")
                #expect((files["size"].int ?? .max) <= 100_000)
                try await anna.expectNoErrors()
            }
        }
    }

    @Test("the contacts' limit is a setting; 10,000 of them scroll with few rows on the page at a time (R19, S7)")
    func manyContacts() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob, carol) = try await quartet.signUp("anna", "bob", "carol")
            try await anna.add(bob)
            _ = try await quartet.psql(Crowd.strangers(9_998, of: anna.account, like: bob.account))
            let code: JSON = ["code": .string(try await carol.code()), "isMyResponder": true, "iAmResponder": false]
            #expect(try await anna.ask("AddContact", code).body["code"] == "limitReached", "1,000 unless it is set")
            try await ChildProcess.with(
                "contacts", ["migrate", "--contact-limit", "10000"], environment: ["DATABASE_URL": quartet.databaseURL]
            ) { try await $0.waitForExit(.exited(0)) }
            try await anna.act("AddContact", code)
            let dora = try await quartet.signUp("dora")
            let oneMore: JSON = ["code": .string(try await dora.code()), "isMyResponder": true, "iAmResponder": false]
            #expect(try await anna.ask("AddContact", oneMore).body["code"] == "limitReached")

            let page = try await console.person("anna")
            try await page.go("/contacts")
            try await page.see("10000")
            try await page.choose("Sort by", "name")
            try await page.see("3 or so")
            let scrolled = try await page.runAsync(Self.scroll)
            #expect(
                (1...40).contains(scrolled["rows"].int ?? 0),
                "what a window's height of scrolling shows, and not all that is there")
            #expect((1...1000).contains(scrolled["elements"].int ?? 0))
            try await page.run("scrollTo(0, document.body.scrollHeight)")
            try await page.see("Number 9998")
            try await page.expectNoErrors()
        }
    }

    /// Scrolls by a window's height in each frame, and says how many rows one drew at most, and how many elements there were.
    private static let scroll = """
        let [drawn, rows, elements] = [0, 0, 0];
        new MutationObserver((changes) => { for (const { addedNodes } of changes) for (const node of addedNodes) drawn += node.className === 'row-place'; })
            .observe(document.querySelector('.rows'), { childList: true });
        const frame = () => new Promise(requestAnimationFrame);
        for (let step = 0; step < 100; step++) {
            scrollBy(0, innerHeight);
            await frame();
            await frame();
            [rows, drawn] = [Math.max(rows, drawn), 0];
            elements = Math.max(elements, document.querySelectorAll('*').length);
        }
        return { rows, elements };
        """

    /// Notes what was loaded when a contact is first shown.
    private static let watch = """
        // Drawing waits 300 ms for the stream to be asked for, and then goes on without: too soon on a slow machine.
        const later = window.setTimeout;
        window.setTimeout = (run, pause, ...rest) => later(run, pause === 300 ? 60000 : pause, ...rest);
        const requests = [], real = window.fetch;
        window.fetch = (path, options) => { requests.push([options?.method ?? 'GET', path]); return real(path, options); };
        let askedFirst;
        new MutationObserver((_, observer) => {
            if (document.querySelector('main')) askedFirst ??= requests.length > 0;
            if (!document.querySelector('.row')) return;
            observer.disconnect();
            const [page] = performance.getEntriesByType('navigation'), files = performance.getEntriesByType('resource');
            const firstAnswer = Math.min(...files.map(({ responseEnd }) => responseEnd));
            window.files = {
                requests, askedFirst, protocols: [...new Set([page, ...files].map((one) => one.nextHopProtocol))],
                // The icon of the tab is nobody's concern.
                late: files.filter(({ name, startTime }) => startTime > firstAnswer && !name.endsWith('icon.svg')).map(({ name }) => name),
                size: [page, ...files].reduce((sum, one) => sum + one.encodedBodySize, 0),
            };
        }).observe(document, { subtree: true, childList: true });
        """
}
