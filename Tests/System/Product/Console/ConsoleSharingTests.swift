import Crypto
import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What people in a group session say to each other, and the files that they share.
@Suite("Console: sharing", .timeLimit(.minutes(60)))
struct ConsoleSharingTests {
    @Test(
        "what is said and shared in a session is there for all, over a reload in the middle of a file, and for whoever joins when its sender has left (P24, P29, P30)"
    )
    func conversation() async throws {
        try await Console.with { console in
            let (first, second, third) = try await console.quartet.signUp("anna", "bob", "carol")
            try await first.add(second, isMyResponder: true)
            try await second.add(third)
            let (anna, bob) = (try await console.person("anna"), try await console.person("bob"))
            try await bob.look(width: 390, isDark: true)
            let id = try await console.begin(anna)
            try await console.join(bob)

            try await anna.fill("Message", "Shall we play?")
            try await anna.click("Send")
            try await bob.see("Shall we play?")
            let hostile = "<img src=x onerror=document.title='owned'>"
            try await bob.fill("Message", hostile)
            try await anna.see("Bob is typing…")
            try await bob.click("Send")
            try await anna.see(hostile)
            try await anna.notSee("is typing")
            #expect(try await anna.run("return document.querySelectorAll('main img').length") == 0)
            try await bob.click("React to: Shall we play?")
            try await bob.click("React with ❤️")
            try await anna.wait("the reaction", "document.querySelector('.reaction')?.innerText === '❤️'")
            try await anna.click("Reply to: \(hostile)")
            try await anna.fill("Message", "With pleasure")
            try await anna.press("\u{E007}")
            try await bob.see("With pleasure")
            try await bob.wait("what it answers", "document.querySelector('.quote')?.innerText.startsWith('You: <img')")
            try await bob.click("👋 Wave")
            try await anna.see("Bob waves")
            try await anna.toggle("I’m ready")
            try await bob.see("Anna is ready")
            try await second.act(
                "SendGroupMessage", ["group": .string(id), "type": "org.example.sticker", "data": ["name": "cat"]])
            try await anna.see("sent “org.example.sticker”")

            // What is said while nobody can decide it waits, and is said once.
            try await console.quartet.kill(.session)
            try await bob.fill("Message", "Are you there?")
            try await bob.click("Send")
            try await bob.see("sending…")
            try await console.quartet.start(.session)
            try await anna.see("Are you there?")
            try await bob.notSee("sending…")
            for page in [anna, bob] {
                #expect(
                    try await page.run("return document.querySelector('.log').innerText.split('Are you there?').length")
                        == 2)
            }

            // A file whose sending is cut off in the middle by a reload: what arrived isn't sent again.
            let bytes = Data((0..<300_000).flatMap { withUnsafeBytes(of: UInt64($0)) { Array($0) } })
            let file = FileManager.default.temporaryDirectory.appending(path: "holiday plans \(UUID()).bin")
            try bytes.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            try await anna.prepare(Self.stopsAfterFiveRequests)
            try await anna.reload()
            try await anna.attach("Add a file", file.path)
            try await anna.wait("half of it", "document.querySelector('main progress')?.value === \(100 * 5 * 4 / 37)")
            try await anna.screenshot("group-uploading")
            try await anna.run("sessionStorage.goesOn = 'yes'")
            try await anna.reload()
            try await anna.see("2.4 MB, from you")
            #expect(
                try await anna.run("return window.requests") == 5, "37 chunks, four at a time, less five times four")
            try await bob.see("2.4 MB, from Anna")
            #expect(try await Self.download(file.lastPathComponent, by: bob) == Self.hash(bytes))
            try await bob.screenshot("group-phone-dark")
            try await anna.screenshot("group-desktop-light")
            try await console.expectSameGroup(id, anna, bob)

            // What the sender leaves behind, somebody finds who wasn't there.
            try await anna.click("Leave")
            try await bob.see("Participants (1)")
            let carol = try await console.person("carol")
            try await console.join(carol)
            for said in ["Shall we play?", hostile, "With pleasure", "Bob waves", "is ready", "org.example.sticker"] {
                try await carol.see(said)
            }
            try await carol.wait("the reaction", "document.querySelector('.reaction')?.innerText === '❤️'")
            #expect(try await Self.download(file.lastPathComponent, by: carol) == Self.hash(bytes))
            try await console.expectSameGroup(id, bob, carol)

            // Somebody who looks at another page isn't here; the browser may keep ours for Back.
            try await bob.run("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
            try await carol.see("away for")
            try await bob.run("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
            try await carol.notSee("away for")
            try await carol.fill("Message", "Welcome back")
            try await carol.click("Send")
            try await bob.see("Welcome back")
            for page in [anna, bob, carol] { try await page.expectNoErrors() }
        }
    }

    private static let stopsAfterFiveRequests = """
        window.requests = 0;
        const real = window.fetch;
        window.fetch = (path, options) => {
            if (options?.method !== 'PUT') return real(path, options);
            window.requests += 1;
            return window.requests > 5 && !sessionStorage.goesOn ? new Promise(() => {}) : real(path, options);
        };
        """

    private static func hash(_ bytes: Data) -> String {
        SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    /// Downloads a file, and returns the hash of what the browser would save.
    private static func download(_ name: String, by page: Browser) async throws -> String? {
        try await page.run(
            """
            window.saved = [];
            const real = URL.createObjectURL;
            URL.createObjectURL = (blob) => { window.saved.push(blob); return real.call(URL, blob); };
            """)
        try await page.click("Download \(name)")
        try await page.wait("the file", "window.saved.length === 1")
        return try await page.runAsync(
            """
            const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', await window.saved[0].arrayBuffer()));
            return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
            """
        ).string
    }
}
