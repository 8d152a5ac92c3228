import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// Notifications of a browser in which no page of the console need be open.
@Suite("Console: pushes", .timeLimit(.minutes(60)))
struct ConsolePushTests {
    @Test(
        """
        the switch registers the browser after a click and once the browser allows it; an alarm is then shown as a notification, and \
        after the sign-out nothing of the account is (A14, C8)
        """)
    func notified() async throws {
        try await PushServices.with { services in
            try await Console.with(pushes: services) { console in
                let quartet = console.quartet
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await bob.add(anna, isMyResponder: true)
                let page = try await console.browser()
                let subscription = try JSON(parsing: services.text("web.json"))["takes"]
                try await page.prepare(Self.pushService(subscription))
                try await page.allowNotifications(false)
                try await page.go("/")
                try await page.signIn("anna")
                try await page.see("Connected")
                try await page.waitForWorker()
                try await page.click("Me")
                try await page.see("Notify me in this browser")
                try await page.see("Your browser blocks notifications of this page.")
                #expect(try await page.run("return window.asked ?? 0") == 0, "nobody is asked without a click")
                try await page.look(width: 390)
                #expect(try await page.accessibilityProblems() == [])

                try await page.allowNotifications()
                try await page.reload()
                try await page.see("Alarms and other news are shown even if no page of Quartet is open")
                try await page.toggle("Notify me in this browser")
                try await page.see("as long as the browser runs")
                #expect(try await page.run(Self.isOn).isTrue)
                let devices = "SELECT string_agg(platform, ' ') FROM notifications.push_device"
                #expect(try await quartet.psql(devices) == "web")
                try await page.screenshot("me-notifications-phone")
                try await page.reload()
                try await page.see("as long as the browser runs")

                try await bob.act("RaiseAlert")
                let pushed = try await services.process.waitForLine("the push about the alarm", on: .output) {
                    $0.contains("dependentAlertRaised") && $0.contains(#""status": 201"#)
                }.text
                let message = try JSON(parsing: pushed)["sent"]
                let shown = try await page.push("\(message)", showing: "An alarm")
                #expect(shown.array.count == 1 && shown[0]["body"] == "Somebody needs you.")
                #expect(shown[0]["requireInteraction"].isTrue && shown[0]["renotify"].isTrue)
                let path = "/contacts/\(bob.account)"
                let data = shown[0]["data"]
                #expect(data["account"].string == anna.account && data["path"].string == path)
                #expect(data["push"] == message["push"] && data["created"] == message["created"])
                // Pushed once more, it is the same notification; its end takes its place.
                #expect(try await page.push("\(message)", showing: "An alarm").array.count == 1)
                try await bob.act("ClearAlert")
                let ended = try await services.process.waitForLine("the push about its end", on: .output) {
                    $0.contains("dependentAlertCleared") && $0.contains(#""status": 201"#)
                }.text
                let cleared = try await page.push("\(try JSON(parsing: ended)["sent"])", showing: "All clear")
                #expect(cleared.array.count == 1)
                // What a click on it tells the page.
                try await page.run(
                    """
                    const data = { show: arguments[0].path, account: arguments[0].account };
                    navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data }));
                    """, shown[0]["data"])
                try await page.see("Bob")
                #expect(try await page.run("return location.pathname").string == path)

                try await page.click("Me")
                try await page.click("Sign out")
                try await page.see("Somebody notices")
                try await page.waitUntilNothingIsShown()
                #expect(try await page.run("return localStorage.subscribed ?? ''") == "")
                try await quartet.wait(for: "the device to be unregistered", devices) { $0 == "" }
                let strange = try await page.push("\(message)", showing: "Quartet")
                #expect(strange.array.count == 1 && strange[0]["data"] == ["path": "/"])
                for word in ["alarm", "needs", anna.account, bob.account] {
                    #expect(!"\(strange)".contains(word), "\(strange)")
                }
                try await page.expectNoErrors()
            }
        }
    }

    @Test(
        "a push that nobody can read shows something, too; turned off, the browser is unregistered; without a key there is no switch (A14)"
    )
    func off() async throws {
        try await PushServices.with { services in
            try await Console.with(pushes: services) { console in
                _ = try await console.quartet.signUp("anna")
                let page = try await console.browser()
                try await page.prepare(Self.pushService(try JSON(parsing: services.text("web.json"))["takes"]))
                try await page.allowNotifications()
                try await page.go("/")
                try await page.signIn("anna")
                try await page.see("Connected")
                try await page.waitForWorker()
                #expect(try await page.push("no message", showing: "Quartet").array.count == 1)
                try await page.click("Me")
                try await page.toggle("Notify me in this browser")
                try await page.see("as long as the browser runs")
                try await page.toggle("Notify me in this browser")
                try await page.notSee("as long as the browser runs")
                try await page.notSee("One moment…")
                #expect(try await page.run("return localStorage.subscribed ?? ''") == "")
                #expect(
                    try await console.quartet.psql("SELECT count(*) FROM notifications.push_device") == "0")
                try await page.reload()
                try await page.see("Notify me in this browser")
                #expect(!(try await page.run(Self.isOn).isTrue))
            }
        }
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.see("Connected")
            try await page.click("Me")
            try await page.see("Sign out")
            try await page.wait(
                "the key to be asked for",
                "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/v1/push/key'))")
            try await page.runModules(["net/http.js"], "await m['net/http.js'].send('GET', '/v1/push/key')")
            #expect(!(try await page.run("return document.body.innerText.includes('Notify me')").isTrue))
        }
    }

    @Test(
        "a click on a notification shows its account's page; a subscription that the browser gave up is renewed by a page, or one is asked for; an alarm is shown even if nobody can look up whose it is (A14)"
    )
    func worker() async throws {
        try await PushServices.with { services in
            try await Console.with(pushes: services) { console in
                let anna = try await console.quartet.signUp("anna")
                let page = try await console.browser()
                try await page.prepare(Self.pushService(try JSON(parsing: services.text("web.json"))["takes"]))
                try await page.allowNotifications()
                try await page.go("/")
                try await page.signIn("anna")
                try await page.see("Connected")
                try await page.waitForWorker()
                try await page.click("Me")
                try await page.toggle("Notify me in this browser")
                try await page.see("as long as the browser runs")
                let file = Products.package.appending(path: "Services/SessionClient/Console/worker.js")
                let worker = try String(contentsOf: file, encoding: .utf8)
                let result = try await page.runAsync(
                    Self.surroundings + worker + Self.probes, .string(anna.account))
                #expect(
                    result == [
                        "clicked": ["opened /contacts/bob"], "isLast": true,
                        "stranger": ["opened /"],
                        "inTab": [.string("message /contacts/bob \(anna.account)"), "focus"],
                        "renewedByPage": ["subscribe", "message again"],
                        "renewalAsked": ["subscribe", "shown Open Quartet"],
                        "asked": ["/contacts/bob", "/notifications"],
                        "known": ["shown An alarm"], "unknown": ["shown An alarm"], "strange": ["shown Quartet"],
                    ])
            }
        }
    }

    /// What the worker finds around it, before its own text.
    private static let surroundings = """
        const account = args[0], handlers = {}, version = 'x', files = {}, pages = ['', 'contacts'];
        let said = [], tabs = [], indexedDB = globalThis.indexedDB;
        const tab = { url: location.origin + '/contacts', focus: () => said.push('focus'),
            postMessage: ({ show, account, isSubscribedAgain }) => said.push(isSubscribedAgain ? 'message again' : `message ${show} ${account}`) };
        const other = { ...tab, url: location.origin + '/ops' };
        const addEventListener = (kind, handler) => { handlers[kind] = handler };
        const clients = { matchAll: async () => tabs, openWindow: async (path) => { said.push(`opened ${path}`) } };
        const registration = { getNotifications: async () => [], showNotification: async (title) => { said.push(`shown ${title}`) },
            pushManager: { subscribe: async () => { said.push('subscribe') } } };

        """

    private static let probes = """

        const happen = async (kind, event) => {
            said = [];
            let done;
            handlers[kind]({ ...event, waitUntil: (promise) => { done = promise } });
            await done;
            return said;
        };
        const record = () => accounts().then(([one]) => one);
        const before = (await record()).used;
        const click = (data) => happen('notificationclick', { notification: { data, close() {} } });
        const given = { oldSubscription: { options: { applicationServerKey: new Uint8Array(65) } } };
        const message = { account, title: 'An alarm', body: 'Somebody needs you.', notification: 'n', alarm: 'a', priority: 'critical', category: 'alerts', created: 1 };
        const push = (message) => happen('push', { data: { json: () => message } });
        tabs = [other];
        const clicked = await click({ account, path: '/contacts/bob' });
        const isLast = (await record()).used > before;
        const stranger = await click({ account: 'stranger', path: '/contacts/bob' });
        const renewalAsked = await happen('pushsubscriptionchange', given);
        tabs = [other, tab];
        const inTab = await click({ account, path: '/contacts/bob' });
        const renewedByPage = await happen('pushsubscriptionchange', given);
        const known = await push(message), strange = await push({ ...message, account: 'stranger' });
        // Whether one is still on it is said where the alarm is.
        const asked = ['bob', account].map((subject) => pathOf({ account, subject, kind: 'system', category: 'system' }));
        indexedDB = { open() { throw new Error('broken') } };
        const unknown = await push(message);
        return { clicked, isLast, stranger, inTab, renewedByPage, renewalAsked, asked, known, unknown, strange };
        """

    private static let isOn = """
        return [...document.querySelectorAll('label')].find((one) => one.innerText.startsWith('Notify me')).control.checked
        """

    /// Stands in for the browser's own push service, which isn't to be had without a network.
    private static func pushService(_ subscription: JSON) -> String {
        """
        if (globalThis.PushManager) {
            const one = (key) => ({
                toJSON: () => (\(subscription)), options: { applicationServerKey: key },
                unsubscribe: async () => { delete localStorage.subscribed; return true },
            });
            const bytes = (text) => Uint8Array.from(text.split(','), Number).buffer;
            PushManager.prototype.getSubscription = async () => (localStorage.subscribed ? one(bytes(localStorage.subscribed)) : null);
            PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
                if (!userVisibleOnly || applicationServerKey.length !== 65) throw new TypeError('options');
                localStorage.subscribed = [...applicationServerKey].join();
                return one(applicationServerKey.buffer);
            };
            const ask = Notification.requestPermission.bind(Notification);
            Notification.requestPermission = () => { window.asked = (window.asked ?? 0) + 1; return ask() };
        }
        """
    }
}

extension Browser {
    /// Waits until the service worker is there, which keeps files and shows pushes.
    func waitForWorker() async throws {
        try await runAsync(
            """
            const { active } = await navigator.serviceWorker.ready;
            while (active.state !== 'activated') await new Promise((done) => active.addEventListener('statechange', done, { once: true }));
            """)
    }

    /// Delivers a push until a notification of that title is shown, and returns all that are. The browser loses one now and then that
    /// comes just after the worker was installed; delivered once more, a push shows the same notification.
    fileprivate func push(_ text: String, showing title: String) async throws -> JSON {
        for _ in 0..<20 {
            try await deliver(push: text)
            let shown = try await runAsync(
                """
                const registration = await navigator.serviceWorker.ready;
                for (let tries = 0; tries < 60; tries++) {
                    const list = await registration.getNotifications();
                    if (list.some((one) => one.title === args[0])) {
                        return list.map(({ title, body, data, requireInteraction, renotify }) => ({ title, body, data, requireInteraction, renotify }));
                    }
                    await new Promise((done) => { setTimeout(done, 50) });
                }
                return null;
                """, .string(title))
            if shown != .null { return shown }
        }
        throw TimedOut("waited a minute for the notification “\(title)”")
    }

    fileprivate func waitUntilNothingIsShown() async throws {
        try await runAsync(
            """
            const registration = await navigator.serviceWorker.ready;
            for (let tries = 1200; (await registration.getNotifications()).length; tries--) {
                if (!tries) throw new Error('notifications are still shown');
                await new Promise((done) => { setTimeout(done, 50) });
            }
            """)
    }
}
