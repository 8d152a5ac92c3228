import EdgeClient
import Foundation
import QuartetAPI
import QuartetVocabulary
import TestKit
import Testing
import WebDriver

/// What the console does with what waits: who goes first, which answers end it, and what other tabs do to it.
@Suite("Console: outbox", .timeLimit(.minutes(60)))
struct ConsoleOutboxTests {
    @Test(
        "each code ends a waiting request or doesn't, as the API says; its rests grow, at random, to 30 seconds, or to 5 (T17)"
    )
    func verdicts() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            let codes = APIError.Code.allCases
            let retries = try await page.runModules(
                ["net/retries.js"], "return argument.map((code) => m['net/retries.js'].retryOf(code))",
                .array(codes.map { .string($0.rawValue) }))
            #expect(retries == .array(codes.map { .string("\($0.retry)") }))

            let verdicts = try await page.runModules(
                ["net/retries.js"],
                """
                const { verdict } = m['net/retries.js'];
                return Object.fromEntries(argument.map(([code, status]) => [code, [0, 4, 5].map((failures) => verdict({ status, code }, failures)).join()]));
                """, .array(codes.map { [.string($0.rawValue), .int(Int64($0.httpStatus))] }))
            for code in codes {
                let expected =
                    switch code {
                    case .expired, .idTooOld, .accountNotFound, .hostChanged: "again,again,again"
                    case .failed: "again,again,decided"
                    case .phoneCodesOff: "later,later,later"
                    case _ where code.retry == .sameKey || code.retry == .refreshed: "later,later,later"
                    case _ where [401, 426].contains(code.httpStatus): "later,later,later"
                    default: "decided,decided,decided"
                    }
                #expect(verdicts[code.rawValue] == .string(expected), "\(code)")
            }
            let unknown = try await page.runModules(
                ["net/retries.js"],
                """
                const { verdict } = m['net/retries.js'];
                return [
                    verdict({ status: 409, code: 'brandNew' }), verdict({ status: 429, code: 'brandNew' }), verdict({ status: 500, code: 'brandNew' }),
                    verdict({ status: 409, code: 'brandNew', retry: 'newKey' }), verdict({ status: 409, code: 'brandNew', retry: 'sameKey' }),
                    verdict({ status: 500, code: 'brandNew', retry: 'no' }),
                    verdict({ status: 409, code: 'brandNew', retry: 'newKey' }, 5),
                ].join();
                """)
            #expect(unknown == "decided,later,later,again,later,decided,decided")
            let rests = try await page.runModules(
                ["net/retries.js"],
                """
                const { rest } = m['net/retries.js'];
                return [[1, false], [4, false], [20, false], [1, true], [20, true]].flatMap(([tries, isUrgent]) =>
                    [0, 0.5, 1].map((random) => rest(tries, isUrgent, 0, () => random))).concat(rest(1, false, 7, () => 0.5), rest(1, true, 60, () => 1),
                    [['brandNew', 5], ['brandNew', 6], ['expired', 6]].map((refusal) => rest(9, true, 0, () => 1, m['net/retries.js'].urgentRestOf(...refusal))));
                """)
            #expect(
                rests == [
                    200, 1000, 2000, 200, 8000, 16000, 200, 15000, 30000, 500, 500, 1000, 500, 2500, 5000, 8000, 5000,
                    5000, 60000, 5000,
                ])
        }
    }

    @Test(
        "what is urgent is what the contracts say, and no operation over several services shares a lane with a command (S22)"
    )
    func lanes() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            func names(of list: [String: some Any]) -> JSON { .array(list.keys.sorted().map(JSON.string)) }
            let found = try await page.runModules(
                ["core/lanes.js"],
                """
                const { isUrgent, laneOf } = m['core/lanes.js'], [commands, operations] = argument, lanes = operations.map((name) => laneOf(name, {}));
                return [[...commands, ...operations].filter(isUrgent), commands.filter((name) => lanes.includes(laneOf(name, {})))];
                """, [names(of: appCommands), names(of: appOperations)])
            let urgent = appCommands.filter { $0.value.isUrgent }.keys.sorted()
            #expect(urgent.contains("RaiseAlert") && urgent.contains("CheckIn"))
            // What servers of before refuse is left out for them.
            let later = try await page.runModules(["net/retries.js"], "return m['net/retries.js'].laterFields")
            let grown = (appCommands.values.map { $0 as any MessageBody.Type } + appOperations.values.map { $0 })
                .compactMap { $0 as? any GrownBody.Type }
            #expect(
                later
                    == .object(
                        Dictionary(
                            uniqueKeysWithValues: grown.map {
                                ($0.type, .array($0.laterFields.sorted().map(JSON.string)))
                            })))
            // The two operations answer pings by commands that are urgent.
            #expect(found[0] == .array((urgent + ["ClearAllReceivedPings", "RespondToAllPings"]).map(JSON.string)))
            #expect(found[1] == [])
        }
    }

    @Test(
        "of any two commands, those with one order key have one lane and no others; what goes first and what takes whose place is as the contracts say (S22)"
    )
    func orderKeys() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            let paths = try await console.quartet.edge.send("GET", "/openapi.json").body["paths"]
            let samples = try appCommands.sorted { $0.key < $1.key }.flatMap { name, type in
                let body = paths["/v1/commands/\(name)"]["post"]["requestBody"]
                return try Self.samples(of: type, like: body["content"]["application/json"]["example"])
            }
            let found = try await page.runModules(
                ["core/lanes.js"],
                """
                const { isBackground, isUrgent, laneOf, supersedes } = m['core/lanes.js'], names = argument.map(([name]) => name);
                return argument.map(([name, fields]) => {
                    const lane = laneOf(name, fields);
                    return [lane, isUrgent(name) ? 'urgent' : isBackground(lane) ? 'background' : 'normal', names.filter((other) => supersedes(name, other))];
                });
                """, .array(samples.map { [.string($0.name), $0.fields] })
            ).array
            #expect(found.count == samples.count && samples.count > 2 * appCommands.count)
            for (index, (one, place)) in zip(samples, found).enumerated() {
                #expect(place[1] == .string(one.sending.precedence.rawValue), "\(one.name)")
                #expect(Set(place[2].array.compactMap(\.string)) == one.sending.supersedes, "\(one.name)")
                for (other, another) in zip(samples, found).dropFirst(index + 1)
                where (place[0] == another[0]) != (one.orderKey == other.orderKey) {
                    Issue.record("\(one.name) \(one.fields) and \(other.name) \(other.fields)")
                }
            }
        }
    }

    private typealias Sample = (name: String, sending: Sending, orderKey: String, fields: JSON)

    /// A command about nobody else, if there is such a one, and about each of two: contacts or group sessions.
    private static func samples(of type: (some AppCommandBody).Type, like example: JSON) throws -> [Sample] {
        let ids = ["019ce697-4800-8859-ab31-40077031f2b4", "019ce697-4800-8859-ab31-40077031f2b5"]
        let about: [[String: JSON]] = [[:]] + ids.map { ["contact": JSON.string($0)] }
        return try about.flatMap { subject in
            let fields = JSON.object(example.members.merging(subject) { $1 })
            return try ids.map { id in
                // What the command doesn't have is left out again.
                let text = "\(fields)".replacing(ids[0], with: id)
                let command = try JSONDecoder().decode(type, from: Data(text.utf8))
                let sent = try JSON(parsing: String(decoding: JSONEncoder().encode(command), as: UTF8.self))
                return (type.type, type.sending, command.orderKey, sent)
            }
        }
    }

    @Test(
        "what an earlier version of the page kept waits for nothing that it shares no order key with, nor for what nobody waits for (S22)"
    )
    func places() async throws {
        try await Console.with { console in
            let (_, bob) = try await console.quartet.signUp("anna", "bob")
            let page = try await console.person("anna")
            try await page.prepare(Self.deaf)
            try await page.reload()
            try await page.see("Connected")
            // With the lanes of earlier versions. There are three places for what is neither urgent nor in the background.
            let kept: JSON = [
                ["ShowNotifications", "notifications", [:]], ["MarkRead", "notifications", [:]],
                ["UpdateContact", .string("contact-\(bob.account)"), ["contact": .string(bob.account)]],
                ["SendPing", .string("contact-\(bob.account)"), ["contact": .string(bob.account)]],
                ["RaiseAlert", "account", [:]],
            ]
            try await page.runModules(
                ["net/database.js", "net/outbox.js", "core/time.js", "core/model.js"],
                """
                const { now, newKey, minute } = m['core/time.js'], { account } = m['core/model.js'].model.account;
                for (const [name, lane, fields] of argument) {
                    await m['net/database.js'].put('outbox', {
                        account, lane, path: `/v1/commands/${name}`, fields, key: newKey(), created: now(), expires: now() + minute, state: 'waiting',
                    });
                }
                await m['net/outbox.js'].drainAll();
                """, kept)
            try await page.wait("each of them on its way", "new Set(sent).size === 5")
        }
    }

    @Test("a choice that was stored when the one before it had just been decided stands on what that made (S22, T26)")
    func lateChoice() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.prepare(
                """
                const real = window.fetch;
                window.versions = [];
                window.fetch = (path, options) => {
                    if (!`${path}`.startsWith('/v1/commands/SetResponderTiers')) return real(path, options);
                    versions.push(JSON.parse(options.body).expectedVersion);
                    return new Promise(() => {});
                };
                """)
            try await page.reload()
            try await page.see("Connected")
            try await page.runModules(
                ["net/database.js", "net/outbox.js", "core/time.js", "core/model.js"],
                """
                const { now, newKey, minute } = m['core/time.js'], { account } = m['core/model.js'].model.account;
                const keep = (fields, others) => m['net/database.js'].put('outbox', {
                    account, path: '/v1/commands/SetResponderTiers', fields: { tiers: [], ...fields }, key: newKey(), created: now(), expires: now() + minute, ...others,
                });
                await keep({ expectedVersion: 1 }, { state: 'done', command: 'one', from: 0 });
                await keep({ expectedVersion: 2 }, { state: 'done', command: 'two', from: 1 });
                await keep({ expectedVersion: 0 }, { state: 'waiting' });
                await m['net/outbox.js'].drainAll();
                """)
            try await page.wait("it on its way", "versions.length === 1")
            #expect(try await page.run("return versions") == [2])
        }
    }

    /// Commands go out and are never answered; `sent` has their names.
    private static let deaf = """
        const real = window.fetch;
        window.sent = [];
        window.fetch = (path, options) => {
            if (!`${path}`.startsWith('/v1/commands/')) return real(path, options);
            sent.push(path.split('/').at(-1));
            return new Promise(() => {});
        };
        """

    @Test(
        "what takes the place of what was never sent ends it, whichever version of the page kept that; what may have happened stays, and an urgent one of another kind leaves a card (S22)"
    )
    func superseding() async throws {
        try await Console.with { console in
            let (_, bob) = try await console.quartet.signUp("anna", "bob")
            let page = try await console.person("anna")
            try await page.prepare(Self.deaf)
            try await page.reload()
            try await page.see("Connected")
            let steps = try await page.runModules(
                ["net/database.js", "core/actions.js", "core/time.js", "core/model.js"],
                """
                const { now, newKey, minute } = m['core/time.js'], { all, put } = m['net/database.js'], { command } = m['core/actions.js'];
                const { account } = m['core/model.js'].model.account, contact = argument, steps = [];
                // As an earlier version kept it. It rests, so that it isn't sent meanwhile.
                const keep = (name, fields, isSent) => put('outbox', {
                    account, lane: 'account', path: `/v1/commands/${name}`, fields, key: newKey(), created: now(), expires: now() + minute,
                    state: 'waiting', next: Date.now() + 60_000, isSent,
                });
                const kept = async () => (await all('outbox')).map(({ path, fields, state, isSent }) => [path.split('/').at(-1), fields.pressed, isSent ? 'sent' : state].filter(Boolean).join(' ')).join();
                const ask = async (name, fields, expected) => {
                    command(name, fields).catch(({ code }) => steps.push(`${name} is ${code}`));
                    for (let tries = 0; tries < 500 && await kept() !== expected; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
                    steps.push(await kept());
                };
                await keep('RaiseAlert', { pressed: 1 }, true);
                await keep('RaiseAlert', { pressed: 2 });
                await ask('RaiseAlert', { pressed: 3 }, 'RaiseAlert 1 sent,RaiseAlert 3 waiting');
                await ask('ClearAlert', { pressed: 4 }, 'RaiseAlert 1 sent,RaiseAlert 3 refused,ClearAlert 4 waiting');
                for (const { id } of await all('outbox')) await m['net/database.js'].remove('outbox', id);
                await keep('SendPing', { contact }, true);
                await keep('SendPing', { contact });
                await keep('UpdateContact', { contact, nickname: 'B' });
                await ask('CancelPing', { contact }, 'SendPing sent,UpdateContact waiting,CancelPing waiting');
                await keep('RaiseAlert', { pressed: 5 });
                await ask('ClearAlert', { pressed: 6 }, 'SendPing sent,UpdateContact waiting,CancelPing waiting,RaiseAlert 5 refused,ClearAlert 6 sent');
                return steps;
                """, .string(bob.account))
            #expect(
                steps == [
                    "RaiseAlert 1 sent,RaiseAlert 3 waiting", "RaiseAlert is superseded",
                    "RaiseAlert 1 sent,RaiseAlert 3 refused,ClearAlert 4 waiting",
                    "SendPing sent,UpdateContact waiting,CancelPing waiting",
                    "SendPing sent,UpdateContact waiting,CancelPing waiting,RaiseAlert 5 refused,ClearAlert 6 sent",
                ])
            try await page.see("Your alert was NOT sent")
            try await page.see("A later change took its place.")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "a request may be sent for the first time for as long as the contracts say, and a late one isn't said to be undone (S22)"
    )
    func lifetimes() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            let commands = appCommands.sorted { $0.key < $1.key }
            let found = try await page.runModules(
                ["core/actions.js"],
                """
                const { lifetimeOf } = m['core/actions.js'];
                return argument.map(([name, fields]) => lifetimeOf(name, fields));
                """,
                .array(
                    commands.map { name, type in
                        // The one that makes a session has none yet.
                        let isInGroup = type.sending.topic == .group && name != "CreateGroupSession"
                        return [.string(name), isInGroup ? ["group": "g"] : [:]]
                    }))
            for (lifetime, (name, type)) in zip(found.array, commands) {
                #expect(lifetime == .int(type.sending.lifetime.microseconds), "\(name)")
            }
            #expect(found.array.count == commands.count)
            let answers = try await page.runModules(
                ["core/actions.js"],
                "return ['RespondToPing', 'RespondToAllPings', 'ClearAllReceivedPings'].map((name) => m['core/actions.js'].lifetimeOf(name, {}))"
            )
            #expect(Set(answers.array.compactMap(\.int)).count == 1, "answering all is answering each")

            // What went out, and what didn't, when it is too late for both.
            try await page.prepare("window.fetch = () => Promise.reject(new TypeError('offline'));")
            try await page.reload()
            try await page.see("Somebody notices")
            let said = try await page.runModules(
                ["net/outbox.js", "net/database.js", "core/model.js"],
                """
                const { drainAll } = m['net/outbox.js'], { all, put } = m['net/database.js'], { model } = m['core/model.js'];
                model.account = { account: 'a' };
                for (const isSent of [true, false]) {
                    await put('outbox', { account: 'a', lane: `${isSent}`, path: '/v1/commands/CheckIn', isUrgent: true, state: 'waiting', isSent, expires: 1, fields: {} });
                }
                await drainAll();
                for (let tries = 0; tries < 500; tries++) {
                    const entries = await all('outbox');
                    if (entries.every(({ state }) => state === 'refused')) return entries.map(({ problem }) => problem.code);
                    await new Promise((resolve) => setTimeout(resolve, 10));
                }
                """)
            #expect(said == ["unknown", "expired"])
        }
    }

    @Test(
        "a check-in waits for nothing else, and no answer but Quartet's own ends it: a portal's page, half an answer, trouble of the server; it is made once (S22, C10)"
    )
    func foreignAnswers() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.prepare(
                """
                window.sent = [];
                const real = window.fetch, html = (status) => new Response('<h1>Log in</h1>', { status, headers: { 'Content-Type': 'text/html' } });
                const trouble = { type: '/docs/errors/internal', code: 'internal', status: 500, detail: 'Something went wrong' };
                const answers = [() => html(404), () => html(200), () => html(401), () => new Response(JSON.stringify(trouble), { status: 500 }), () => new Response('{', { status: 200 })];
                window.fetch = async (path, options) => {
                    if (path === '/v1/commands/UpdateProfile') return new Promise(() => {});
                    if (path !== '/v1/commands/CheckIn') return real(path, options);
                    sent.push(options.headers['Idempotency-Key']);
                    const answer = answers.shift();
                    return answer ? answer() : real(path, options);
                };
                """)
            try await page.go("/me")
            try await page.see("Connected")
            try await page.fill("Name", "Anna Maria")
            try await page.click("Save")
            try await page.see("Saving…")
            try await page.click("Home")
            try await page.click("I’m all right")
            try await page.wait(
                "what is said meanwhile",
                "document.querySelector('.banner strong')?.innerText === 'It isn’t known whether your check-in went out'"
            )
            try await page.see("Last check-in ")
            try await page.wait("nothing to wait", "!document.querySelector('.banner')")
            let keys = try await page.run("return sent")
            #expect(keys.array.count == 6 && Set(keys.array.compactMap(\.string)).count == 1, "\(keys)")
            #expect(
                try await console.quartet.psql(
                    "SELECT count(*) FROM session.log WHERE type = 'CheckedIn' AND account = '\(anna.account)'") == "1")
            // A rule's refusal is a decision, whatever its status.
            try await page.click("I’m all right")
            try await page.wait("the refusal", "document.querySelector('.check-in .problem')?.innerText.length > 10")
            #expect(try await page.run("return sent.length") == 7)
            try await page.expectNoErrors()
        }
    }

    @Test(
        "a token that something on the way refuses, or one server with a wrong key, signs nobody out: what waits stays, and goes out once with the next token (S22, S42)"
    )
    func foreignTokenAnswers() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            // In the tab's own storage, so that a reload changes nothing.
            try await page.prepare(
                """
                [window.asked, window.sent] = [[], []];
                const real = window.fetch, headers = { 'Content-Type': 'application/problem+json' };
                const refused = (type, code) => new Response(JSON.stringify({ type, code, status: 401, detail: 'No.' }), { status: 401, headers });
                const answers = [
                    () => new Response('<h1>Log in</h1>', { status: 401, headers: { 'Content-Type': 'text/html' } }),
                    () => refused('https://gateway.example/signedOut', 'signedOut'), () => refused('/docs/errors/invalidToken', 'invalidToken'),
                ];
                window.fetch = async (path, options) => {
                    if (path === '/v1/commands/CheckIn') sent.push(options.headers['Idempotency-Key']);
                    if (path !== '/v1/token') return real(path, options);
                    asked.push(options.headers['Idempotency-Key']);
                    return sessionStorage.isForeign ? answers[(asked.length - 1) % answers.length]() : real(path, options);
                };
                """)
            try await page.reload()
            try await page.see("Connected")
            let before = try await page.runModules(
                ["net/database.js", "net/vault.js"],
                """
                const { get, update } = m['net/database.js'];
                sessionStorage.isForeign = 'yes';
                asked.length = 0;
                await update('accounts', argument, (record) => ({ ...record, expires: 0 }));
                return (await m['net/vault.js'].unseal((await get('accounts', argument)).sealed)).refreshToken;
                """, .string(anna.account))
            #expect(before.string?.isEmpty == false)
            try await page.click("I’m all right")
            try await page.see("Your check-in has NOT gone out")
            try await page.wait("each of the answers", "asked.length >= 3")
            let first = try await page.run("return asked")
            try await page.reload()
            try await page.see("Your check-in has NOT gone out")
            try await page.wait("each of the answers", "asked.length >= 3")
            let kept = try await page.runModules(
                ["net/database.js", "net/vault.js"],
                """
                const { all, get } = m['net/database.js'], { signedOut, sealed } = await get('accounts', argument);
                const waiting = (await all('outbox')).map(({ path, state, isSent }) => `${path} ${state} ${isSent ?? false}`);
                return [signedOut ?? 'signed in', (await m['net/vault.js'].unseal(sealed)).refreshToken, waiting, sent.length, location.pathname];
                """, .string(anna.account))
            #expect(kept == ["signed in", before, ["/v1/commands/CheckIn waiting false"], 0, "/"])
            let keys = try await page.run("return asked").array + first.array
            #expect(
                Set(keys.compactMap(\.string)).count == 1, "an exchange that may have happened keeps its key: \(keys)")

            try await page.run("delete sessionStorage.isForeign")
            try await page.wait("nothing to wait", "sent.length > 0 && !document.querySelector('.banner')")
            try await page.see("Connected")
            try await page.see("Last check-in ")
            // An edge that is busy may be asked more than once.
            #expect(try await page.run("return new Set(sent).size") == 1)
            #expect(
                try await console.quartet.psql(
                    "SELECT count(*) FROM session.log WHERE type = 'CheckedIn' AND account = '\(anna.account)'") == "1")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "what is done shows until its event has come, or until the stream has said twice that there is none; not for some seconds (S20)"
    )
    func untilItsEvent() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            let shown = try await page.runModules(
                ["net/outbox.js", "net/database.js", "core/model.js"],
                """
                const { reload, close } = m['net/outbox.js'], { put } = m['net/database.js'], { model } = m['core/model.js'];
                model.account = { account: 'a' };
                for (const command of ['one', 'two']) await put('outbox', { account: 'a', lane: 'account', path: '/v1/commands/UpdateProfile', state: 'done', command, fields: {} });
                model.replica = { seen: [], heartbeats: 7 };
                // Any time that somebody waits for is over at once.
                const real = window.setTimeout, counts = [];
                window.setTimeout = (function_, time, ...rest) => real(function_, 0, ...rest);
                const count = async () => { await reload(); await new Promise((resolve) => real(resolve, 100)); counts.push(model.outbox.length); };
                await count();
                model.replica = { seen: ['one'], heartbeats: 8 };
                close();
                await count();
                model.replica = { seen: ['one'], heartbeats: 9 };
                close();
                await count();
                return counts;
                """)
            #expect(shown == [2, 1, 0])
        }
    }

    @Test("a tab lets go of the database for a later version, and opens it again when it was closed (S22)")
    func database() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            let again = try await page.runModules(
                ["net/database.js"],
                """
                const { all, put } = m['net/database.js'];
                await put('outbox', { account: 'a' });
                await new Promise((resolve, reject) => {
                    const request = indexedDB.deleteDatabase('quartet');
                    request.onsuccess = resolve;
                    request.onblocked = () => reject(new Error('blocked'));
                });
                await put('outbox', { account: 'b' });
                return (await all('outbox')).map(({ account }) => account);
                """)
            #expect(again == ["b"])
            let first = try await page.tab()
            try await page.newTab()
            try await page.go("/docs/errors/expired")
            let opened = try await page.runAsync(
                """
                return new Promise((resolve) => {
                    const request = indexedDB.open('quartet', 3);
                    request.onsuccess = () => resolve('opened');
                    request.onblocked = () => resolve('blocked');
                });
                """)
            #expect(opened == "opened")
            try await page.show(tab: first)
            let said = try await page.runModules(
                ["net/database.js"],
                "return m['net/database.js'].all('outbox').then(() => 'nothing', (error) => error.message)")
            #expect(said == "Quartet was updated in another tab. Reload this page.")
        }
    }

    @Test("a tab that leads and is frozen loses the stream to another one, and follows it when it goes on (C4)")
    func frozenTab() async throws {
        try await Console.with(environment: ["STREAM_HEARTBEAT": "300ms"]) { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            let hurries = """
                const real = window.setInterval;
                window.setInterval = (function_, time) => real(function_, time === 10000 ? 1000 : time);
                """
            try await page.prepare(hurries)
            try await page.go("/contacts")
            try await page.see("Connected")
            let first = try await page.tab()
            let second = try await page.newTab()
            try await page.prepare(hurries)
            try await page.go("/contacts")
            try await page.see("Bob")
            try await page.see("Connected")
            try await page.show(tab: first)
            try await page.freeze(true)
            try await page.show(tab: second)
            try await bob.act("RaiseAlert")
            try await page.see("Alert since")
            try await page.see("Connected")
            try await page.show(tab: first)
            try await page.freeze(false)
            try await page.see("Alert since")
            try await bob.act("ClearAlert")
            for tab in [first, second] {
                try await page.show(tab: tab)
                try await page.notSee("Alert since")
            }
            try await page.expectNoErrors()
        }
    }
}
