import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// How soon the console is there, as far as the number of things that it waits for says so.
@Suite("Console: speed", .timeLimit(.minutes(30)))
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
                try await anna.slowDown(4)
                try await anna.go("/contacts")
                let shown = try await anna.wait("the list", "window.listed")
                print(
                    "the first contact list was there after \(shown) ms, at 150 ms a round trip and a fourth of the speed"
                )

                let files = try await anna.run("return window.files")
                #expect(files["protocols"] == ["h2"])
                #expect(files["late"] == [], "all files are asked for before the first is there")
                #expect(files["requests"] == [["GET", "/v1/stream"]])
                #expect((files["size"].int ?? .max) <= 100_000)
                try await anna.expectNoErrors()
            }
        }
    }

    /// Notes when a contact is first shown, and what was loaded by then.
    private static let watch = """
        const requests = [], real = window.fetch;
        window.fetch = (path, options) => { requests.push([options?.method ?? 'GET', path]); return real(path, options); };
        new MutationObserver((_, observer) => {
            if (!document.querySelector('.row')) return;
            observer.disconnect();
            window.listed = Math.round(performance.now());
            const [page] = performance.getEntriesByType('navigation'), files = performance.getEntriesByType('resource');
            const firstAnswer = Math.min(...files.map(({ responseEnd }) => responseEnd));
            window.files = {
                requests, protocols: [...new Set([page, ...files].map((one) => one.nextHopProtocol))],
                // The icon of the tab is nobody's concern.
                late: files.filter(({ name, startTime }) => startTime > firstAnswer && !name.endsWith('icon.svg')).map(({ name }) => name),
                size: [page, ...files].reduce((sum, one) => sum + one.encodedBodySize, 0),
            };
        }).observe(document, { subtree: true, childList: true });
        """
}
