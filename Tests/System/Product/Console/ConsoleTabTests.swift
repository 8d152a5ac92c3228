import EdgeClient
import TestKit
import Testing
import WebDriver

/// What a tab that was frozen in the middle of something does to the others, and they to it.
@Suite("Console: tabs", .timeLimit(.minutes(60)))
struct ConsoleTabTests {
    @Test(
        "a late answer that a device was signed out takes no newer one of the same person in this browser with it (S42, R12)"
    )
    func newerDevice() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.see("Connected")
            let seen = try await page.runModules(
                ["net/accounts.js", "net/api.js", "net/database.js", "core/time.js", "core/model.js"],
                """
                const { signIn } = m['net/accounts.js'], { read } = m['net/api.js'], { get } = m['net/database.js'];
                const { account } = m['core/model.js'].model.account, device = async () => (await get('accounts', account)).device;
                const real = window.fetch, isOver = { type: '/docs/errors/deviceSignedOut', code: 'deviceSignedOut', status: 401, detail: 'It is over.' };
                let goOn;
                const isHeld = new Promise((resolve) => { goOn = resolve }), answers = [isOver];
                window.fetch = async (path, options) => {
                    const answer = path === '/v1/account' && answers.shift();
                    if (!answer) return real(path, options);
                    await isHeld;
                    return new Response(JSON.stringify(answer), { status: 401, headers: { 'Content-Type': 'application/problem+json' } });
                };
                const before = await device(), asked = read('/v1/account').then(({ handle }) => handle, (error) => error.message);
                await signIn('/v1/sign-in', { handle: 'anna', password: argument, deviceName: 'a newer one' }, m['core/time.js'].newKey());
                goOn();
                return [await asked, (await get('accounts', account)).signedOut ?? 'signed in', before !== await device()];
                """, .string(Browser.password))
            #expect(seen == ["anna", "signed in", true])
            try await page.see("Connected")
        }
    }

    @Test(
        "a tab that is frozen while it exchanges its token undoes nothing that others have done since: newer tokens, or signing out (S42, R12)",
        arguments: ["before", "after"])
    func frozenExchange(whenHeld: String) async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            let first = try await page.tab()
            // As if it were frozen before its request goes out, or before its answer is read.
            try await page.runModules(
                ["net/accounts.js", "core/model.js"],
                """
                const { accessToken } = m['net/accounts.js'], { account } = m['core/model.js'].model.account;
                const real = window.fetch, isHeld = new Promise((resolve) => { window.goOn = resolve });
                window.fetch = async (path, options) => {
                    if (path !== '/v1/token') return real(path, options);
                    if (argument === 'after') {
                        const answer = await real(path, options);
                        await isHeld;
                        return answer;
                    }
                    await isHeld;
                    return real(path, options);
                };
                window.token = accessToken(account, await accessToken(account)).then((token) => { window.isDone = true; return token }, (error) => { window.isDone = true; return error.message });
                """, .string(whenHeld))
            let second = try await page.newTab()
            try await page.go("/")
            try await page.see("Are you all right")
            let newest = try await page.runModules(["net/accounts.js", "core/model.js"], Self.exchangesTwice)
            try await page.show(tab: first)
            try await page.run("window.goOn()")
            try await page.wait("the frozen one to go on", "window.isDone")
            try await page.show(tab: second)
            let kept = try await page.runModules(
                ["net/accounts.js", "core/model.js"],
                """
                const { accessToken } = m['net/accounts.js'], { account } = m['core/model.js'].model.account;
                const token = await accessToken(account);
                // The server takes a token that was exchanged before for a thief's.
                return [token, typeof await accessToken(account, token)];
                """)
            #expect(kept == [newest, "string"])
            try await page.see("Connected")

            // The same, and somebody signs out meanwhile.
            try await page.show(tab: first)
            try await page.runModules(
                ["net/accounts.js", "core/model.js"],
                """
                const { accessToken } = m['net/accounts.js'], { account } = m['core/model.js'].model.account;
                const real = window.fetch, isHeld = new Promise((resolve) => { window.goOn = resolve });
                window.isDone = false;
                window.fetch = async (path, options) => {
                    if (path === '/v1/token') await isHeld;
                    return real(path, options);
                };
                accessToken(account, await accessToken(account)).catch(() => {}).then(() => { window.isDone = true });
                """)
            try await page.show(tab: second)
            try await page.runModules(
                ["net/accounts.js", "core/model.js"],
                "await m['net/accounts.js'].forget(m['core/model.js'].model.account.account)")
            try await page.show(tab: first)
            try await page.run("window.goOn()")
            try await page.wait("the frozen one to go on", "window.isDone")
            let left = try await page.runModules(
                ["net/database.js"], "return (await m['net/database.js'].all('accounts')).length")
            #expect(left == 0, "who signed out doesn't come back")
            try await page.see("Somebody notices")
        }
    }

    @Test("an alert doesn't wait for locks that a frozen tab holds, nor for a token that doesn't come (S22, A1)")
    func heldLocks() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await bob.add(anna)
            let page = try await console.person("anna")
            // What waits for 45 s waits in vain.
            try await page.prepare(
                """
                const later = window.setTimeout;
                window.setTimeout = (run, pause, ...rest) => later(run, pause === 45000 ? 3600000 : pause, ...rest);
                """)
            try await page.go("/")
            try await page.see("Connected")
            let first = try await page.tab()
            try await page.newTab()
            try await page.go("/docs/errors/expired")
            try await page.run(
                """
                for (const name of ['outbox-\(anna.account)-alert', 'token-\(anna.account)']) {
                    navigator.locks.request(`quartet-${name}`, () => new Promise(() => {}));
                }
                """)
            try await page.show(tab: first)
            // The token is over, and the first who asks for another one waits for ever.
            try await page.runModules(
                ["net/database.js", "net/api.js"],
                """
                const { update } = m['net/database.js'], real = window.fetch;
                window.tokens = 0;
                window.fetch = (path, options) => {
                    if (path !== '/v1/token') return real(path, options);
                    window.tokens += 1;
                    return window.tokens === 1 ? new Promise(() => {}) : real(path, options);
                };
                await update('accounts', argument, (record) => ({ ...record, expires: 0 }));
                for (let count = 0; count < 4; count++) m['net/api.js'].read('/v1/account').catch(() => {});
                """, .string(anna.account))
            try await page.click("Raise an alert")
            try await page.click("Raise the alert")
            try await page.see("Your alert is on")
            try await bob.wait(toHear: "dependentAlertRaised")
            #expect(
                try await page.run("return window.tokens") == 2, "one for all who aren't urgent, and one for the alert")
            #expect(
                try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'AlertRaised'") == "1")
        }
    }

    @Test("an edit that was dropped while another version of it was looked up doesn't come back (S20, S22)")
    func droppedMeanwhile() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            try await page.go("/contacts/\(bob.account)")
            try await page.see("Connected")
            try await page.run(
                """
                const real = window.fetch, isHeld = new Promise((resolve) => { window.goOn = resolve });
                const stale = { type: '/docs/errors/staleVersion', code: 'staleVersion', status: 409, detail: 'It changed.' };
                window.fetch = async (path, options) => {
                    if (path === '/v1/commands/UpdateContact') return new Response(JSON.stringify(stale), { status: 409 });
                    if (path.startsWith('/v1/contacts/')) { window.isAsked = true; await isHeld; window.isAnswered = true; }
                    return real(path, options);
                };
                """)
            try await page.fill("Nickname", "Bobby")
            try await page.click("Save")
            try await page.wait("the other version to be asked for", "window.isAsked")
            let left = try await page.runModules(
                ["net/outbox.js", "net/database.js"],
                """
                const { drop } = m['net/outbox.js'], { all } = m['net/database.js'];
                for (const { id } of await all('outbox')) await drop(id);
                window.goOn();
                for (let looks = 0; looks < 50; looks++) {
                    await new Promise((resolve) => setTimeout(resolve, 20));
                    const { length } = await all('outbox');
                    if (length) return length;
                }
                return window.isAnswered ? 0 : 'never answered';
                """)
            #expect(left == 0)
        }
    }

    /// Exchanges this tab's token twice; returns the newest.
    private static let exchangesTwice = """
        const { accessToken } = m['net/accounts.js'], { account } = m['core/model.js'].model.account;
        const once = await accessToken(account, await accessToken(account));
        return accessToken(account, once);
        """
}
