import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// The console in German. That each text is there, and is the same as in the package for apps, is tested by its sources
/// (`ConsoleTextsTests`, `TextsTests`).
@Suite("Console: language", .timeLimit(.minutes(60)))
struct ConsoleLanguageTests {
    @Test("in German, every page and dialog keeps axe's rules, fits 320 pixels and says nothing in English (C7)")
    func everyPage() async throws {
        try await Console.with { console in
            let name = "Bartholomew Featherstonehaugh-Cholmondeley"
            let bob = try await Device.signUp("bob", name: name, at: console.quartet.edge)
            let carl = try await Device.signUp("carl", name: "Carl", at: console.quartet.edge)
            let anna = try await console.newPerson("anna", name: "Anna")
            try await anna.click("Me")
            try await anna.choose("Language", "de")
            try await anna.see("Wiederherstellungscodes")
            #expect(try await anna.run("return document.documentElement.lang") == "de")
            try await anna.click("Kontakte")
            try await anna.fill("Code der Person", try await bob.code())
            try await anna.toggle("Ich passe auf sie auf")
            try await anna.click("Hinzufügen")
            try await anna.see("Kontakt hinzugefügt")
            try await anna.click("Gemeinsam")
            try await anna.click("Starten")
            try await anna.see("Dabei (1)")
            let path = try await anna.run("return location.pathname").string ?? ""
            let group = try #require(path.split(separator: "/").last.map(String.init))
            try await bob.act("JoinGroupSession", ["group": .string(group)])
            let said: JSON = ["group": .string(group), "type": "text", "data": ["text": "Spielen wir?"]]
            try await bob.act("SendGroupMessage", said)
            try await anna.fill("Nachricht", "Gern")
            try await anna.click("Senden")
            try await anna.click("Hören")
            try await anna.click("Clair de lune abspielen")
            try await anna.click("Träumerei in die Warteschlange")
            try await anna.see("Zur Warteschlange hinzugefügt")
            try await bob.act("SendPing", ["contact": .string(try await Self.account(of: anna))])
            try await carl.act("AddContact", ["handle": "anna", "isMyResponder": true, "iAmResponder": true])
            try await bob.act("RaiseAlert")

            try await anna.look(width: 320)
            for (path, name) in [
                ("/", "home"), ("/contacts", "contacts"), ("/contacts/\(bob.account)", "contact"),
                ("/notifications", "notifications"), ("/together", "together"), ("/together/\(group)", "group"),
                ("/listen", "listen"), ("/search", "search"), ("/me", "me"), ("/listen#player", "player"),
                ("/nowhere", "nowhere"),
            ] {
                try await anna.go(to: "about:blank")
                // Nothing leads there but a link of its own.
                try await anna.go(name == "nowhere" ? "/" : path)
                try await anna.see("Verbunden")
                if name == "nowhere" {
                    try await anna.runModules(["core/router.js"], "m['core/router.js'].go('/nowhere')")
                    try await anna.see("Diese Seite gibt es nicht")
                }
                try await anna.wait("the page", "document.querySelector('main h1')")
                // What is folded away is said, too.
                try await anna.run("for (const one of document.querySelectorAll('details')) one.open = true")
                try await Self.check(anna, name)
            }
            for (path, opening, name, closing) in [
                ("/", "Alarm auslösen", "alert", "Abbrechen"),
                ("/contacts/\(bob.account)", "Entfernen", "removal", "Abbrechen"),
                ("/contacts/\(bob.account)", "Erreicht, in Sicherheit", "safe", "Abbrechen"),
                ("/me", "Passwort ändern", "password", "Abbrechen"),
                ("/me", "Neue Codes erstellen", "codes", "Ich habe sie aufbewahrt"),
                ("/me", "Konto schließen", "closing", "Abbrechen"),
                ("/me", "Telefonnummer hinzufügen", "phone", "Abbrechen"),
                ("/together/\(group)", "Einladen", "invitation", "Abbrechen"),
            ] {
                try await anna.go(path)
                try await anna.see("Verbunden")
                try await anna.click(opening)
                try await anna.wait("a dialog", "document.querySelector('dialog[open]')")
                try await Self.check(anna, "dialog-\(name)")
                try await anna.click(closing)
            }
            try await anna.expectNoErrors()
        }
    }

    @Test(
        "a browser that prefers German gets a German wizard, and what was chosen goes before what the browser prefers (C7)"
    )
    func wizard() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.prepare(
                "Object.defineProperty(navigator, 'languages', { get: () => ['fr', 'de-AT', 'en'] })")
            try await page.look(width: 320)
            try await page.go("/")
            try await page.see("Jemand merkt, wenn du dich nicht meldest")
            try await Self.check(page, "start")
            let said = try await page.runModules(["core/words.js", "core/time.js", "parts/reach.js"], Self.words)
            #expect(
                said == [
                    "Von den 12 Helfern, die erfahren, dass du dich nicht meldest, war lange niemand erreichbar.",
                    "7 words of an operator", "constructor", "Du hast 1 Nachfrage beantwortet",
                    "Du hast 2 Nachfragen beantwortet", "3 Stunden", "1 Tag", "in 2 Tagen", "vor 3 Tagen",
                    "gerade eben",
                    "A, B und 2 weitere", "Dieser Benutzername ist vergeben; wähle einen anderen.",
                    "Der Server kann das gerade nicht; versuche es gleich noch einmal.",
                ])
            try await page.click("Konto erstellen")
            try await page.fill("Benutzername", "anna")
            try await page.fill("Passwort", Browser.password)
            try await Self.check(page, "account")
            try await page.click("Weiter")
            try await page.fill("Name", "Anna")
            try await Self.check(page, "profile")
            try await page.click("Konto erstellen")
            try await page.see("Erinnere mich")
            try await Self.check(page, "timer")
            try await page.click("Weiter")
            try await page.see("Wer passt auf dich auf?")
            try await Self.check(page, "people")
            try await page.click("Fertig")
            try await page.see("Alles in Ordnung, Anna?")
            try await page.see("Niemand passt auf dich auf")
            try await page.click("Mir geht es gut")
            try await page.see("Letzte Rückmeldung: gerade eben")

            try await page.click("Ich")
            try await page.choose("Sprache", "en")
            try await page.see("Recovery codes")
            try await page.reload()
            try await page.see("Recovery codes")
            #expect(try await page.run("return document.documentElement.lang") == "en")
            try await page.choose("Language", "")
            try await page.see("Wiederherstellungscodes")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "a German browser opens in German without a network, and its pushes are German; others load no German (C1, C7, M16, A14)"
    )
    func withoutNetwork() async throws {
        try await Console.with(environment: ["STREAM_HEARTBEAT": "1s"]) { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.browser()
            try await page.allowNotifications()
            try await page.go("/")
            try await page.signIn("anna")
            try await page.waitForWorker()
            #expect(try await Self.keptLanguages(page) == [])
            try await page.click("Me")
            try await page.choose("Language", "de")
            try await page.see("Sprache")
            try await page.wait(
                "nothing to be loaded",
                "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/languages/de.json'))")
            // What the page asked for through the worker is kept; what it asked for before there was one, isn't yet.
            try await page.reload()
            try await page.see("Wiederherstellungscodes")
            #expect(try await Self.keptLanguages(page) == ["de"])

            let push: JSON = [
                "title": "An alarm", "body": "Somebody needs you.", "notification": "one", "push": "one",
                "alarm": "one",
                "account": .string(anna.account), "kind": "dependentAlertRaised", "category": "alerts",
                "priority": "critical", "created": 1_795_000_000_000_000,
            ]
            let shown = try await Self.shown(page, "\(push)")
            #expect(shown == ["Ein Alarm", "Jemand braucht dich."])

            let url = try console.quartet.url
            try await page.runModules(
                ["net/kept.js"],
                "while (!(await m['net/kept.js'].keptOf(argument))) await new Promise((done) => { setTimeout(done, 100) })",
                .string(anna.account))
            try await page.setOffline(true)
            try await console.restartEdge {
                try await page.go(to: url + "/")
                try await page.see("Es gibt gerade keine Verbindung.")
                #expect(try await page.run("return document.documentElement.lang") == "de")
            }
        }
    }

    @Test("texts that can't be loaded hold up nobody: the page is English, and says so (H2)")
    func unavailable() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.browser()
            try await page.prepare(
                """
                const real = window.fetch;
                window.fetch = (path, options) => String(path).includes('/languages/') ? Promise.reject(new TypeError('no')) : real(path, options);
                localStorage.language = 'de';
                """)
            try await page.go("/")
            try await page.signIn("anna")
            #expect(try await page.run("return document.documentElement.lang") == "en")
            try await page.click("Me")
            try await page.choose("Language", "de")
            try await page.see("The texts of this language can’t be loaded.")
            try await page.expectNoErrors()
        }
    }

    /// Sentences that the server wrote, with any number, and others' words; counts; spans and times; lists; refusals.
    private static let words = """
        const { sentence } = m['core/words.js'], { span, ahead, ago, hour, day } = m['core/time.js'], { listed } = m['parts/reach.js'];
        const system = (text) => sentence({ kind: 'system', details: { text } });
        const answered = (count) => sentence({ kind: 'pingsCleared', details: { count } });
        const real = window.fetch;
        const refused = async (code, status) => {
            window.fetch = async () => new Response(JSON.stringify({ type: `/docs/errors/${code}`, code, detail: 'English.' }), { status });
            return (await modules['net/http.js'].send('GET', '/').catch((error) => error)).message;
        };
        const refusals = [await refused('handleTaken', 409), await refused('overloaded', 503)];
        window.fetch = real;
        return [
            system('None of the 12 responders who hear when you miss a check-in could be reached for a long time.'), system('7 words of an operator'),
            system('constructor'), answered(1), answered(2), span(3 * hour), span(day), ahead(2 * day), ago(0, 3 * day), ago(0, 0),
            listed(['A', 'B', 'C', 'D']), ...refusals,
        ];
        """

    private static func account(of page: Browser) async throws -> String {
        try await page.runModules(["core/model.js"], "return m['core/model.js'].model.account.account").string ?? ""
    }

    /// The languages whose texts the service worker keeps.
    private static func keptLanguages(_ page: Browser) async throws -> JSON {
        try await page.runAsync(
            """
            const [name] = await caches.keys(), requests = await (await caches.open(name)).keys();
            return requests.map(({ url }) => url.match(/languages\\/(\\w+)/)?.[1]).filter(Boolean);
            """)
    }

    /// Delivers a push until it is shown: the browser loses one now and then that comes just after the worker was installed.
    private static func shown(_ page: Browser, _ push: String) async throws -> JSON {
        for _ in 0..<20 {
            try await page.deliver(push: push)
            let shown = try await page.runAsync(
                """
                const registration = await navigator.serviceWorker.ready;
                for (let tries = 0; tries < 60; tries++) {
                    const [one] = await registration.getNotifications();
                    if (one) return [one.title, one.body];
                    await new Promise((done) => { setTimeout(done, 50) });
                }
                return null;
                """)
            if shown != .null { return shown }
        }
        throw TimedOut("waited a minute for the notification")
    }

    private static func check(_ page: Browser, _ name: String) async throws {
        #expect(try await page.accessibilityProblems() == [], "\(name)")
        let wide = try await page.run(
            """
            const { clientWidth, scrollWidth } = document.documentElement;
            if (scrollWidth <= clientWidth) return [];
            return [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > clientWidth)
                .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)} ${one.getBoundingClientRect().right}`);
            """
        ).array.compactMap(\.string)
        #expect(wide == [], "\(name) is wider than the window")
        #expect(try await page.runModules(["state/catalogue.js", "core/model.js"], english) == [], "\(name)")
        try await page.screenshot("\(name)-320-german")
    }

    /// What the page says, shows as hints or has read out, and is a text of the catalogue's English or has words that no German text
    /// has. Titles of pieces,
    /// names of devices and what people wrote stay as they are.
    private static let english = """
        const texts = await (await fetch(script.replace(/app.js$/, 'languages/de.json'))).json();
        const german = new Set(Object.values(texts));
        const pattern = (text) => new RegExp('^' + text.replace(/[.*+?^$()|[\\]\\\\]/g, '\\\\$&').replace(/\\{\\d\\}/g, '.+') + '$');
        const keys = Object.keys(texts).filter((key) => /[a-z]{2}/.test(key) && texts[key] !== key);
        const [plain, filled] = [new Set(keys.filter((key) => !key.includes('{'))), keys.filter((key) => key.includes('{')).map(pattern)];
        const words = /\\b(the|you|your|is|are|to|of|and|with|nobody|somebody|it|this|they|them|from|has|have)\\b/i;
        const pieces = m['state/catalogue.js'].catalogue.flatMap(({ tracks }) => tracks).map(({ title }) => title);
        const names = [...pieces, ...(m['core/model.js'].model.replica?.account?.devices ?? []).map(({ name }) => name)];
        const said = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) if (!walker.currentNode.parentElement.closest('noscript, .bubble')) said.push(walker.currentNode.data);
        for (const element of document.querySelectorAll('body *')) {
            for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext']) if (element.hasAttribute(name)) said.push(element.getAttribute(name));
        }
        const own = said.map((text) => names.reduce((rest, name) => rest.replaceAll(name, '·'), text.trim()));
        const isEnglish = (text) => !german.has(text) && (plain.has(text) || words.test(text) || filled.some((one) => one.test(text)));
        return [...new Set(own)].filter(isEnglish);
        """
}
