import AsyncHTTPClient
import EdgeClient
import Foundation
import Games
import NIOCore
import NIOHTTP1
import QuartetAPI
import QuartetNotificationsContract
import QuartetSessionContract
import TestKit
import Testing
import WebDriver

/// What the console's modules compute, in the browser that runs them; and how its files are served.
@Suite("Console: modules and files", .timeLimit(.minutes(60)))
struct ConsoleModuleTests {
    @Test(
        "lists are grouped and sorted; every kind, state and reason has its words; keys carry the server's time; texts of events are read in any pieces (S47, S36, T2, T30)"
    )
    func modules() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")

            let groups = try await page.runModules(["state/lists.js", "core/time.js"], Self.groups)
            #expect(
                groups == [
                    "status": [
                        "Alert: Zoë", "Very late: Otto", "Missed their check-in: Mia", "Waiting for an answer: Ben",
                        "Due soon: Tim", "Not checked in yet: Nora",
                        "Fine: anna, Carl 2, Carl 10", "Responders: Rosa",
                    ],
                    "due": [": Otto, Mia, Tim, Ben, anna, Zoë, Carl 2, Carl 10, Nora, Rosa"],
                    "initials": "# _x, # 9 lives, # 10cc, E Émile, E eve, L Lisa, L Łukasz, L Lz, Z zoë, Б Борис",
                    "responders": ["Responders: Rosa"], "search": ["Fine: Carl 2, Carl 10"],
                    "text": "Missed the check-in",
                ])

            let games = try await page.runModules(["state/four-in-a-row.js"], Self.games)
            #expect(games == [true, false, false, false, false, false, false])
            let drafts = try await page.runModules(["core/drafts.js"], Self.drafts)
            #expect(
                drafts == [["note": "typed meanwhile"], [:]], "what is sent isn't typed any more; what came later is")

            let seed = Int64.random(in: 1..<1 << 31)
            let differences = try await page.runModules(
                ["state/lists.js", "core/time.js"], Self.changes, .int(seed))
            #expect(differences == [], "kept up to date, a list is as if it were made anew; seed \(seed)")

            let kinds = NotificationKind.allCases.map {
                JSON.array([.string($0.rawValue), .string($0.category.rawValue), .bool($0.priority == .critical)])
            }
            let unknown = try await page.runModules(
                ["core/words.js", "state/notifications.js"],
                """
                const { sentence, isCritical } = m['core/words.js'], { category } = m['state/notifications.js'];
                return argument.filter(([kind, of, critical]) => sentence({ kind, details: {} }, 'Anna') === kind
                    || category(kind) !== of || isCritical(kind) !== critical).map(([kind]) => kind);
                """, .array(kinds))
            #expect(unknown == [], "each kind has a sentence, its category and its priority")
            let lacking = try await page.runModules(
                ["core/words.js"], Self.lacking,
                [
                    "endings": .array(GroupStreamEnded.Reason.allCases.map { .string($0.rawValue) }),
                    "signOuts": .array(SignOutReason.allCases.map { .string($0.rawValue) }),
                ])
            #expect(lacking == [], "each state of the connection and each reason has its words")
            let undoable = try await page.runModules(
                ["core/words.js"], "return argument.filter((why) => m['core/words.js'].leavesUndo(why))",
                .array(SignOutReason.allCases.map { .string($0.rawValue) }))
            #expect(undoable == .array(SignOutReason.allCases.filter(\.leavesUndo).map { .string($0.rawValue) }))

            let read = try await page.runModules(
                ["net/events.js"],
                """
                const text = 'retry: 1\\n: \\n\\nid: a b\\nevent: person\\ndata: {"x":1}\\n\\nevent: end\\ndata: {}\\n\\n';
                const results = new Set();
                for (let cut = 0; cut <= text.length; cut++) {
                    const reader = new m['net/events.js'].EventReader();
                    results.add(JSON.stringify([...reader.push(text.slice(0, cut)), ...reader.push(text.slice(cut))]));
                }
                return [...results];
                """)
            #expect(read == [#"[{"id":"a b","event":"person","data":"{\"x\":1}"},{"event":"end","data":"{}"}]"#])

            let rings = try await page.runModules(
                ["state/lists.js", "core/time.js"],
                """
                const { levelOf, ringOf } = m['state/lists.js'], { hour, minute, day } = m['core/time.js'];
                const at = (interval, left) => {
                    const checkIn = { interval, due: left, last: left - interval, missed: false };
                    return ringOf(checkIn, 0).tone + ' ' + levelOf({ contact: {}, person: { checkIn } }, 0);
                };
                return [at(hour, 59 * minute), at(hour, 14 * minute), at(hour, 5 * minute), at(day, 3 * hour), at(day, hour), at(day, 29 * minute)];
                """)
            #expect(
                rings == [
                    "good fine", "warning dueSoon", "critical dueSoon", "good fine", "warning dueSoon",
                    "critical dueSoon",
                ], "no interval begins with a warning, and the list says what the ring does")
            let alerts = try await page.runModules(
                ["state/account.js", "state/lists.js"], Self.unanswered)
            #expect(
                alerts == [
                    ["c", false], ["", false], ["b", true],
                    ["; hasn’t answered a ping of", "; called for help; hasn’t answered a ping of"],
                ], "a call for help is never shown as a mere ping, nor a ping or a trip as a call")
            let late = try await page.runModules(
                ["state/account.js", "state/lists.js", "core/words.js", "core/time.js"], Self.lateCall)
            #expect(
                late == [true, true, true, true, true, true, true, true],
                "a late call is shown with both times, also in an alert that is on, until one comes in time (S34)")
            let again = try await page.runModules(
                ["parts/ping-settings.js", "core/time.js"],
                """
                const { canAskAgain } = m['parts/ping-settings.js'], { now, minute, second } = m['core/time.js'];
                const able = (ago, more) => canAskAgain({ iAmResponder: true, outgoingPing: now() - ago, isOutgoingPingOver: true, ...more });
                return [able(second), able(minute), able(-minute), able(minute, { isOutgoingPingOver: undefined }), able(minute, { iAmResponder: false })];
                """)
            #expect(again == [false, true, true, false, false], "nobody is offered what would do nothing")
            let signals = try await page.runModules(
                ["state/replica.js"],
                """
                const { apply, emptyReplica } = m['state/replica.js'];
                let replica = emptyReplica();
                for (let count = 0; count < 1000; count++) replica = apply(replica, { event: 'signal', data: { group: 'g', account: 'a', topic: `t${count}` } });
                for (const topic of ['typing', 'cursor']) replica = apply(replica, { event: 'signal', data: { group: 'g', account: 'a', topic } });
                return [...replica.signals.get('g').values()].map(({ topic }) => topic);
                """)
            #expect(signals == ["typing", "cursor"], "a stranger's topics are kept for nobody")
            let sessions = try await page.runModules(["state/replica.js", "state/player.js"], Self.replacedSession)
            #expect(
                sessions == [["new", "old"], "old", ["new"], "new", JSON.null],
                "a list that is ahead of a session's own sequence leaves no copy of it that goes on, and what was left isn't listened to"
            )

            let key = try await page.runModules(
                ["core/time.js"],
                """
                const { observe, newKey, now } = m['core/time.js'];
                observe('Thu, 01 Jan 2032 00:00:00 GMT');
                return [newKey(), Math.abs(now() / 1e6 - Date.UTC(2032, 0, 1) / 1000) < 5];
                """)
            #expect(key[1].isTrue)
            #expect(
                key[0].string?.wholeMatch(
                    of: /01c78a28-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil, "\(key)")

            let pauses = try await page.runModules(
                ["net/connection.js"],
                "return [1, 2, 3, 5, 20].map((attempt) => m['net/connection.js'].pause(attempt, () => 0.5))")
            #expect(pauses == [500, 1000, 2000, 8000, 15000])
        }
    }

    @Test(
        "what was read of sessions and of pictures doesn't pile up: the oldest gives way, and is loaded again when it is needed (R19)"
    )
    func bounds() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            let histories = try await page.runModules(["net/messages.js", "core/model.js"], Self.manyHistories)
            #expect(histories == [64, [], ["s0"]], "one's own session is one of the newest")
            let pictures = try await page.runModules(["net/api.js"], Self.manyPictures)
            let revoked = try #require(pictures[0].int)
            #expect((500..<1000).contains(revoked), "\(revoked) of 1,000 addresses are revoked")
            #expect(pictures[1].isTrue, "the oldest ones")
            #expect(pictures[2].isTrue, "the others are shown as before")
            #expect(pictures[3] == ["p0"], "and only what gave way is loaded again")
            try await page.expectNoErrors()
        }
    }

    /// How many sessions' messages were read; those that are read again when the newest are opened once more, and the oldest.
    private static let manyHistories = """
        const { messagesOf } = m['net/messages.js'], { model } = m['core/model.js'];
        const real = window.fetch, asked = [], names = Array.from({ length: 64 }, (_, number) => `s${number}`);
        const messages = new Map(names.map((name) => [name, { begun: 1, list: [] }]));
        window.fetch = async (path, options) => {
            const group = String(path).match(/^\\/v1\\/groups\\/(s\\d+)\\/messages/)?.[1];
            if (!group) return real(path, options);
            asked.push(group);
            return new Response(JSON.stringify({ messages: [] }));
        };
        const open = async (name) => {
            for (;;) {
                // The stream replaces it at any time.
                model.replica = { ...model.replica, messages };
                const { isLoading, hasFailed } = messagesOf(name);
                if (hasFailed) throw new Error(name);
                if (!isLoading) return;
                await new Promise((resolve) => setTimeout(resolve));
            }
        };
        for (const name of names) await open(name);
        const read = asked.splice(0).length;
        for (const name of names.slice(-8)) await open(name);
        const newest = asked.splice(0);
        await open('s0');
        return [read, newest, asked];
        """

    /// How many of 1,000 pictures' addresses were revoked; whether they are the oldest; whether the others are there; and what is
    /// loaded again when the oldest is shown once more.
    private static let manyPictures = """
        const { picture } = m['net/api.js'], [asked, made, revoked] = [[], [], []];
        const [real, create, revoke] = [window.fetch, URL.createObjectURL, URL.revokeObjectURL];
        window.fetch = async (path, options) => {
            const account = String(path).match(/^\\/v1\\/contacts\\/(p\\d+)\\/avatar$/)?.[1];
            if (!account) return real(path, options);
            asked.push(account);
            return new Response(new Blob([account]));
        };
        URL.createObjectURL = (blob) => { made.push(create.call(URL, blob)); return made.at(-1) };
        URL.revokeObjectURL = (address) => { revoked.push(address); revoke.call(URL, address) };
        const show = (number, whenLoaded) => picture(`p${number}`, { hash: `h${number}` }, whenLoaded);
        const load = (number) => new Promise((resolve) => show(number, resolve));
        for (let number = 0; number < 1000; number++) await load(number);
        const first = asked.splice(0).length;
        if (!revoked.length) return [0];
        const areOldest = first === made.length && revoked.every((address, number) => address === made[number]);
        const areThere = made.every((address, number) => number < revoked.length || show(number) === address);
        const count = revoked.length;
        await load(0);
        return [count, areOldest, areThere, asked];
        """

    /// What alerts of pings, of a trip and by hand have in common: whose pings are left, and whether the person called; and the words for it.
    private static let unanswered = """
        const { applyToAccount } = m['state/account.js'], { statusText } = m['state/lists.js'];
        const ping = (contact, sent) => ({ contact, sent, recorded: sent });
        const after = (...events) => {
            const { unanswered, trip } = events.reduce((state, [type, body]) => applyToAccount(state, type, { alarm: 'a', ...body }), { checkIn: {}, trip: { id: 't' } });
            return [(unanswered?.pings ?? []).map(({ contact }) => contact).join(), Boolean(unanswered?.isCalled ?? trip?.isCalled)];
        };
        const raised = ['AlertRaised', { at: 1, pings: [ping('b', 1)] }], dropped = ['UnansweredPingsDropped', { pings: [ping('b', 1)] }];
        const missed = ['AlertRaisedAgain', { trip: { trip: 't' } }];
        const words = (unanswered) => statusText({ contact: {}, person: { alertRaised: 1.7e15, unanswered } }, 'alert', 1.7e15);
        return [
            after(raised, ['AlertRaisedAgain', { pings: [ping('c', 2)] }], dropped), after(raised, missed, dropped),
            after(['AlertRaised', { at: 1 }], ['AlertRaisedAgain', { pings: [ping('b', 1)] }]),
            [{ pinged: 1.7e15 }, { pinged: 1.7e15, isCalled: true }].map((one) => words(one).match(/;.* of/)[0]),
        ];
        """

    /// What the console says of a call for help that came late: in the state, on a card and in a notification.
    private static let lateCall = """
        const { applyToAccount } = m['state/account.js'], { statusText } = m['state/lists.js'], { sentence } = m['core/words.js'];
        const { moment } = m['core/time.js'];
        const pressed = 1.7e15, at = pressed + 1.2e9;
        const lateCall = { pressed, received: at };
        const raised = applyToAccount({ checkIn: {} }, 'AlertRaised', { alarm: 'a', at: at + 6e8 });
        const again = applyToAccount(raised, 'AlertRaisedAgain', { alarm: 'a', lateCall });
        const begun = applyToAccount({ checkIn: {} }, 'AlertRaised', { alarm: 'a', at, lateCall });
        const both = (text, now) => text.includes(moment(pressed, now)) && text.includes(moment(at, now));
        const person = { alertRaised: at + 6e8, lateCall };
        const told = (kind) => both(sentence({ kind, details: { at, pressed } }, 'Bob'));
        return [
            begun.lateCall === lateCall && again.lateCall === lateCall && raised.lateCall === undefined,
            applyToAccount(again, 'AlertRaisedAgain', { alarm: 'a' }).lateCall === undefined,
            applyToAccount(again, 'AlertRaisedAgain', { alarm: 'a', trip: {} }).lateCall === lateCall,
            applyToAccount(again, 'AlertRaisedAgain', { alarm: 'a', pings: [] }).lateCall === lateCall,
            applyToAccount(again, 'AlertCleared', { alarm: 'a' }).lateCall === undefined,
            both(statusText({ contact: {}, person }, 'alert', at), at), told('alertRaised'), told('dependentAlertRaised'),
        ];
        """

    /// A listening session is replaced by another one, of which the list says so first; at last the account leaves that one.
    private static let replacedSession = """
        const { apply, emptyReplica, followed } = m['state/replica.js'];
        const { playerOf } = m['state/player.js'];
        const anna = 'anna', listen = { identifier: 'quartet.listen' };
        const state = (group) => ({ group, activity: listen, capacity: 8, host: anna, participants: [{ id: anna }, { id: 'bob' }], invited: [], queue: [] });
        let replica = { ...emptyReplica(), account: { account: anna } };
        const hear = (event, data) => { replica = apply(replica, { event, data }) };
        const event = (group, type, body) => hear('group.event', { group, type, body });
        const heard = [];
        hear('group.snapshot', { group: 'old', state: state('old') });
        hear('groups', { groups: [{ group: 'new', standing: 'joined' }] });
        heard.push(followed(replica, anna), playerOf(replica, []).group);
        event('old', 'GroupSessionEnded', { reason: 'ended' });
        hear('group.snapshot', { group: 'new', state: state('new') });
        heard.push(followed(replica, anna), playerOf(replica, []).group);
        event('new', 'ParticipantLeft', { account: anna, host: 'bob' });
        hear('groups', { groups: [{ group: 'new', standing: 'open' }] });
        return [...heard, playerOf(replica, []) ?? null];
        """

    @Test(
        "the contact code's QR code is right, and 10,000 rows put few elements on the page, which are drawn when they change (S35, R19)"
    )
    func parts() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            // As the Python package qrcode 8 makes it: version 5, level M, mask 2.
            let fingerprint = try await page.runModules(
                ["parts/qr-code.js"],
                """
                const rows = m['parts/qr-code.js'].qrCode('http://127.0.0.1:8080/contacts#add=01a1b2c3-0000-7000-8000-0123456789ab');
                const bits = new TextEncoder().encode(rows.map((row) => row.map(Number).join('')).join('\\n'));
                return [rows.length, [...new Uint8Array(await crypto.subtle.digest('SHA-256', bits))].map((byte) => byte.toString(16).padStart(2, '0')).join('')];
                """)
            #expect(fingerprint == [37, "2e7d14c8223db6cc8720d3749f83f81cf6460412ff93933cca7f93e8f98980b2"])
            let game = try await page.runModules(
                ["state/four-in-a-row.js"],
                """
                const { newGame, drop } = m['state/four-in-a-row.js'];
                const play = (columns) => columns.reduce((game, column) => ({ ...game, ...drop(game, column) }), newGame('anna', 'bob'));
                const full = play([0, 0, 0, 0, 0, 0]);
                return [
                    play([0, 1, 0, 1, 0, 1, 0]).winner, play([6, 0, 1, 0, 2, 0, 6, 0]).winner, play([0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3]).winner,
                    play([6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3]).line.length, play([0, 1, 2]).winner ?? null, drop(full, 0) ?? null,
                ];
                """)
            #expect(game == ["anna", "bob", "anna", 4, nil, nil], "down, down, both diagonals, none, a full column")
            let columns = (0..<200).map { _ in (0..<42).map { _ in Int64.random(in: 0..<7) } }
            let played = try await page.runModules(
                ["state/four-in-a-row.js"],
                """
                const { newGame, drop } = m['state/four-in-a-row.js'];
                return argument.map((columns) => columns.reduce(
                    (game, column) => (game.winner ? game : { ...game, ...drop(game, column) }), newGame('anna', 'bob')));
                """, .array(columns.map { .array($0.map(JSON.int)) }))
            for (columns, theirs) in zip(columns, played.array) {
                let ours = columns.reduce(FourInARow(first: "anna", second: "bob")) { game, column in
                    game.winner == nil ? game.playing(Int(column)) ?? game : game
                }
                let encoded = String(decoding: try JSONEncoder().encode(ours), as: UTF8.self)
                #expect(try JSON(parsing: encoded) == theirs, "apps and the console play by the same rules: \(columns)")
            }
            let rows = try await page.runModules(
                ["parts/virtual-list.js", "core/view.js"],
                """
                let drawn = 0;
                const list = Array.from({ length: 10000 }, (_, key) => ({ key, height: 76, view: () => { drawn += 1; return m['core/view.js'].h('p', {}, key) } }));
                const element = document.body.appendChild(document.createElement('div'));
                const render = (fact) => m['core/view.js'].render(element, m['parts/virtual-list.js'].virtualList('All', list, [fact]));
                // Once to find out where the list is.
                render(1);
                render(1);
                const [shown, before] = [element.querySelectorAll('p').length, drawn];
                render(1);
                const again = drawn - before;
                render(2);
                const redrawn = drawn - before === shown;
                const row = element.querySelector('p');
                row.tabIndex = -1;
                row.focus();
                scrollTo(0, 300000);
                render(2);
                const place = [row.parentNode.getAttribute('aria-posinset'), row.parentNode.getAttribute('aria-setsize')];
                const kept = [document.activeElement === row, element.querySelectorAll('p').length > 10, ...place];
                scrollTo(0, 0);
                return [shown < 60, again, redrawn, element.firstChild.offsetHeight, ...kept];
                """)
            #expect(
                rows == [true, 0, true, 760_000, true, true, "1", "10000"],
                "rows that are the same aren't drawn again, and one with the focus stays")
        }
    }

    @Test("the console's files have types, a version and a strict policy, and weigh at most 100 kB compressed (C1, C8)")
    func files() async throws {
        try await Quartet.with { quartet in
            let page = try await get("/contacts/01a1b2c3-0000-7000-8000-0123456789ab", quartet)
            #expect(page.headers["content-type"] == ["text/html; charset=utf-8"])
            let policy = page.headers["content-security-policy"].first ?? ""
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
            #expect(!policy.contains("unsafe"))
            #expect(page.headers["x-content-type-options"] == ["nosniff"])
            let tag = try #require(page.headers["etag"].first)
            let unchanged = try await get("/me", quartet, ["if-none-match": tag])
            #expect(unchanged.status == .notModified && unchanged.headers["content-security-policy"] == [policy])
            #expect(!page.text.contains("current/"))
            #expect(page.text.firstMatch(of: /<script(?![^>]*src=)|style=|onclick/) == nil, "nothing inline")

            let paths = page.text.matches(of: /(?:href|src)="(\/console\/[^"]+)"/).map { String($0.1) }
            #expect(paths.contains { $0.hasSuffix("/app.js") } && paths.contains { $0.hasSuffix(".css") })
            let atOnce = Set(paths).filter { !$0.hasSuffix("/manifest.webmanifest") }
            #expect(atOnce.count <= 6, "with HTTP/1.1 browsers ask for six at once, and for the manifest later")
            var (plain, compressed) = (0, 0)
            for path in Set(paths + ["/"]) {
                let file = try await get(path, quartet)
                let gzip = try await get(path, quartet, ["accept-encoding": "br;q=1.0, gzip;q=0.8"])
                for answer in [file, gzip] {
                    #expect(answer.status == .ok, "\(path)")
                    #expect(answer.headers["vary"] == ["Accept-Encoding"])
                    #expect(answer.headers["x-content-type-options"] == ["nosniff"])
                    #expect(answer.headers["content-type"] == [Self.type(of: path)])
                    #expect(
                        answer.headers["cache-control"] == [
                            path == "/" ? "no-cache" : "public, max-age=31536000, immutable"
                        ])
                }
                #expect(file.headers["content-encoding"] == [])
                #expect(gzip.headers["content-encoding"] == (gzip.size < file.size ? ["gzip"] : []), "\(path)")
                #expect(path != "/" || gzip.headers["etag"] != file.headers["etag"])
                (plain, compressed) = (plain + file.size, compressed + gzip.size)
            }
            #expect(compressed <= 100_000 && compressed < plain / 2, "\(compressed) of \(plain) bytes")
            let refused = try await get("/", quartet, ["accept-encoding": "gzip;q=0"])
            #expect(refused.headers["content-encoding"] == [])

            let version = try #require(paths.first?.split(separator: "/")[1])
            for path in [
                "/console/\(version)/../../etc/passwd", "/console/\(version)/%2e%2e/Package.swift",
                "/console/\(version)/index.html", "/console/1/index.html",
            ] {
                #expect(try await get(path, quartet).status == .notFound, "\(path)")
            }
            // A page of another version, as there are while one is rolled out, isn't left without its script.
            let others = try await get("/console/1/app.js", quartet)
            let own = try await get("/console/\(version)/app.js", quartet)
            #expect(others.text == own.text && others.headers["cache-control"] == ["no-store"])
        }
    }

    private struct File {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let text: String
        /// In bytes, as they were sent.
        let size: Int
    }

    private static func type(of path: String) -> String {
        switch path.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "webmanifest": "application/manifest+json"
        default: "text/html; charset=utf-8"
        }
    }

    private func get(_ path: String, _ quartet: Quartet, _ headers: [String: String] = [:]) async throws -> File {
        // Doesn't decompress.
        let http = EdgeClient.connections()
        var request = HTTPClientRequest(url: try quartet.url + path)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        do {
            let response = try await http.execute(request, timeout: .seconds(120))
            let body = try await response.body.collect(upTo: 1 << 20)
            try await http.shutdown()
            return File(
                status: response.status, headers: response.headers, text: String(buffer: body), size: body.readableBytes
            )
        } catch {
            try await http.shutdown()
            throw error
        }
    }

    /// Which states of the connection, reasons why a session is over, and reasons why a device was signed out have no words of
    /// their own.
    private static let lacking = """
        const { connectionWords, endingWords, signOutWords } = m['core/words.js'];
        const names = ['connecting', 'connected', 'reconnecting', 'disconnected', 'needsAuthentication', 'notConfigured'];
        const states = names.map((name) => [name, connectionWords({ name, attempt: 2 })]);
        return [
            ...states.filter(([, words]) => !words?.text || !words.tone || states.filter(([, other]) => other?.text === words.text).length > 1).map(([name]) => name),
            ...argument.endings.filter((reason) => !endingWords(reason)),
            ...argument.signOuts.filter((why) => signOutWords(why) === signOutWords(undefined)),
        ];
        """

    private static let games = """
        const { isFourInARow, newGame } = m['state/four-in-a-row.js'], game = newGame('a', 'b');
        return [game, {}, { ...game, cells: null }, { ...game, cells: '.' }, { ...game, players: {} }, 'text', 7]
            .map((state) => isFourInARow(state));
        """

    private static let drafts = """
        const { draft, setDraft, takeDraft } = m['core/drafts.js'];
        setDraft('form', { name: 'sent', note: 'sent' });
        const drop = takeDraft('form');
        setDraft('form', { note: 'typed meanwhile' });
        drop();
        const rest = draft('form');
        takeDraft('form')();
        return [rest, draft('form')];
        """

    private static let groups = """
        const { Arrangement, statusText } = m['state/lists.js'], { hour, minute, day } = m['core/time.js'];
        const now = 1795000000000000;
        const card = (name, contact, person) => ({
            contact: { account: name, nickname: name, added: now, iAmResponder: true, isMyResponder: false, ...contact },
            person: { account: name, handle: name.toLowerCase(), ...person },
        });
        const due = (time, rest) => ({ checkIn: { interval: day, due: now + time, last: now + time - day, missed: time < 0 }, ...rest });
        const cards = [
            card('Rosa', { iAmResponder: false, isMyResponder: true }, {}), card('Carl 10', {}, due(20 * hour)), card('Carl 2', {}, due(20 * hour)),
            card('anna', {}, due(5 * hour)), card('Tim', {}, due(10 * minute)), card('Ben', { outgoingPing: now - minute }, due(3 * hour)),
            card('Mia', {}, due(-hour, { veryLateFrom: now + day })), card('Otto', {}, due(-2 * day, { veryLateFrom: now - day })),
            card('Zoë', {}, due(9 * hour, { alertRaised: now - minute })),
            card('Nora', {}, { checkIn: { interval: day, due: now + 22 * hour, missed: false } }),
        ];
        const items = (options) => new Arrangement().items(cards, options, now);
        const lines = (options) => Object.entries(Object.groupBy(items(options), ({ title }) => title))
            .map(([title, those]) => title + ': ' + those.map(({ name }) => name).join(', '));
        return {
            status: lines({ sort: 'status' }), due: lines({ sort: 'due' }), responders: lines({ role: 'responders' }), search: lines({ search: 'carl' }),
            initials: new Arrangement().items(['Émile', '9 lives', 'Lz', 'eve', '10cc', 'Борис', 'Łukasz', 'zoë', '_x', 'Lisa'].map((name) => card(name, {}, {})), { sort: 'name' }, now)
                .map(({ name, title }) => title + ' ' + name).join(', '),
            text: statusText(cards[6], items({ search: 'mia' })[0].level, now).slice(0, 19),
        };
        """

    /// A list of contacts in which something changes a hundred times: where it then differs from one that is made of the same cards.
    private static let changes = """
        const { Arrangement } = m['state/lists.js'], { hour, minute } = m['core/time.js'];
        let random = argument;
        const below = (limit) => (random = (random * 48271) % 2147483647) % limit;
        let now = 1795000000000000;
        const card = (account) => ({
            contact: { account, nickname: 'N' + below(20), added: now - below(99), iAmResponder: below(2) > 0, isMyResponder: true, ...(below(9) === 0 && { outgoingPing: now }) },
            person: below(5) === 0 ? undefined : { account, handle: 'h' + account, checkIn: { interval: (1 + below(12)) * hour, due: now + (below(300) - 60) * minute, missed: below(4) === 0 }, veryLateFrom: now + below(200) * minute },
        });
        const cards = new Map(Array.from({ length: 60 }, (_, place) => ['a' + place, card('a' + place)]));
        const kept = new Map();
        const differences = [];
        for (let step = 0; step < 100; step++) {
            now += below(20) * minute;
            for (let change = below(4); change > 0; change--) {
                const account = 'a' + below(80);
                below(4) === 0 ? cards.delete(account) : cards.set(account, card(account));
            }
            for (const sort of ['status', 'name', 'due', 'added']) for (const role of ['all', 'dependents']) {
                const name = sort + role;
                if (!kept.has(name)) kept.set(name, new Arrangement());
                const text = (one) => JSON.stringify(one.items([...cards.values()], { sort, role }, now).map(({ card, level, title }) => [card.contact.account, level, title]));
                if (text(kept.get(name)) !== text(new Arrangement())) differences.push(step + ' ' + name);
            }
        }
        return differences.slice(0, 3);
        """
}
