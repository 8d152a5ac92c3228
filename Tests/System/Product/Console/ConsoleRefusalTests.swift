import EdgeClient
import QuartetAPI
import QuartetClient
import TestKit
import Testing
import WebDriver

/// What people see when a form is refused.
@Suite("Console: refusals", .timeLimit(.minutes(60)))
struct ConsoleRefusalTests {
    @Test(
        "whatever an endpoint may refuse a form with is said in that form, at the field that it is about, and not in passing, in each language (S20, S27, R15)"
    )
    func everyForm() async throws {
        try await Console.with { console in
            let (anna, bob, carl) = try await console.quartet.signUp("anna", "bob", "carl")
            try await anna.add(bob, isMyResponder: true)
            // With one responder nobody hears before another.
            try await console.quartet.signUp("dora").add(anna)
            try await carl.act(
                "AddContact", ["handle": "anna", "isMyResponder": true, "iAmResponder": false])
            let page = try await console.person("anna")
            try await page.prepare(Self.refuses)
            let group = try await console.begin(page)
            let document = try await console.quartet.edge.send("GET", "/openapi.json").body
            let places = ["{bob}": "/contacts/\(bob.account)", "{group}": "/together/\(group)"]
            for language in ["en", "de"] {
                try await page.run("localStorage.language = arguments[0]", .string(language))
                try await Self.expectWords(page, language, places, in: document)
            }
            try await page.expectNoErrors()
        }
    }

    /// Has every form refused with every code of its endpoint, and looks for what is said.
    private static func expectWords(
        _ page: Browser, _ language: String, _ places: [String: String], in document: JSON
    ) async throws {
        for form in forms {
            let codes = try codes(of: form, in: document)
            #expect(!codes.isEmpty, "\(form.path)")
            try await page.go(to: "about:blank")
            try await page.go(places[form.page] ?? form.page)
            try await page.see(language == "de" ? "Verbunden" : "Connected")
            let refusals = codes.map { refusal(by: $0, of: form, in: language) }
            let lacking = try await page.runModules(
                ["net/retries.js", "core/model.js"], tried(form), ["form": form.json, "refusals": .array(refusals)])
            #expect(lacking == [], "\(form.path) at \(form.place) in \(language)")
        }
    }

    /// A form or a button. `ConsoleAlarmTests` has the wizard of sign-up.
    private struct Form {
        /// The page that it is on.
        let page: String
        let path: String
        var method = "POST"
        /// Where a refusal has to be.
        let place: String
        /// What a person does, as a script.
        let submit: String
        /// What they do after it was refused.
        var after = ""
        /// The field that some of the refusals are about, and where those have to be.
        var field: (name: String, id: String)?
        /// What is said in the form's own words.
        var words: [String] = []
        /// Whether it is sent again by itself after trouble that passes.
        var isKept: Bool { path.hasPrefix("/v1/commands/") || path.hasPrefix("/v1/operations/") }

        var json: JSON {
            [
                "path": .string(path), "method": .string(method), "place": .string(place), "isKept": .bool(isKept),
                "id": field.map { .string($0.id) } ?? .null, "words": .array(words.map(JSON.string)),
            ]
        }
    }

    private static func codes(of form: Form, in document: JSON) throws -> [APIError.Code] {
        let responses = document["paths"][form.path][form.method.lowercased()]["responses"].members.values
        let names = responses.flatMap {
            $0["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]["code"]["enum"].array
        }
        return try names.compactMap(\.string).sorted().map { try #require(APIError.Code(rawValue: $0)) }
            // Others are answered elsewhere: by a dialog, by signing in, by merging.
            .filter { $0 != .confirmationRequired && $0 != .staleVersion }
            .filter { $0.httpStatus != 401 || form.path == "/v1/sign-in" }
    }

    private static func refusal(by code: APIError.Code, of form: Form, in language: String) -> JSON {
        let detail = "What \(code.rawValue) means."
        return [
            "code": .string(code.rawValue), "status": .int(Int64(code.httpStatus)), "retry": .string("\(code.retry)"),
            "detail": .string(detail),
            "said": .string(Texts(languages: [language]).sentence(APIError(code, detail))),
            "field": code == .invalidField ? form.field.map { .string($0.name) } ?? .null : .null,
        ]
    }

    /// Answers the request that is being tried in the server's place.
    private static let refuses = """
        const real = window.fetch;
        window.fetch = async (path, options) => {
            const { refused } = window;
            if (refused?.path !== path || options?.method !== refused.method) return real(path, options);
            const { status, code, detail, field, retry } = refused;
            window.answered = (window.answered ?? 0) + 1;
            return new Response(JSON.stringify({ type: `/docs/errors/${code}`, title: 'Refused', status, code, detail, field: field ?? undefined, retry }), { status });
        };
        """

    /// Which codes aren't shown where they should be.
    private static func tried(_ form: Form) -> String {
        """
        const { form, refusals } = argument, { verdict } = m['net/retries.js'];
        const texts = document.documentElement.lang === 'en' ? {}
            : await (await fetch(script.replace(/app.js$/, `languages/${document.documentElement.lang}.json`))).json();
        const say = (text) => texts[text] ?? text;
        form.place = form.place.replace(/aria-label='?([^'\\]]+)'?/, (_, text) => `aria-label='${say(text)}'`);
        const until = async (what, found) => {
            for (let tries = 0; tries < 1000; tries++) {
                const value = found();
                if (value) return value;
                await new Promise((resolve) => setTimeout(resolve, 10));
            }
            throw new Error(`waited for ${what} at ${form.path}: ${document.body.innerText}`);
        };
        const top = () => [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
        const find = (selector) => until(selector, () => top().querySelector(selector));
        const press = async (name) => (await until(name, () => [...top().querySelectorAll('button, summary')].find((one) =>
            !one.disabled && (one.getAttribute('aria-label') ?? one.innerText.trim()) === say(name)))).click();
        const confirm = async (name, yes = name) => {
            // The last question goes with the next frame. Where two codes have one sentence, this comes before it.
            await until('the last question to be gone', () => !document.querySelector('dialog[open]'));
            await press(name);
            await until('a question', () => document.querySelector('dialog[open]'));
            await press(yes);
        };
        const begin = async (refusal, ...names) => {
            if (refusal !== refusals[0]) return;
            if (document.querySelector('main form')) {
                await press('Cancel');
                // It goes with the next frame, and its own buttons have the same names.
                await until('the last form to be gone', () => !document.querySelector('main form'));
            }
            for (const name of names) await press(name);
        };
        const type = async (selector, text) => {
            const field = await find(selector);
            field.value = text;
            field.dispatchEvent(new Event('input', { bubbles: true }));
        };
        const turn = async (label) => (await until(label, () => [...top().querySelectorAll('.toggle')].find((one) =>
            one.innerText.startsWith(say(label)))?.querySelector('input:enabled'))).click();
        const pick = async (selector, value) => {
            const field = await find(selector);
            field.value = value;
            field.dispatchEvent(new Event('change', { bubbles: true }));
        };
        const lacking = [];
        for (const refusal of refusals) {
            if (form.isKept && verdict(refusal) !== 'decided') continue;
            window.refused = { path: form.path, method: form.method, ...refusal };
            const isShown = (text) => text.includes(refusal.said) || form.words.map(say).includes(text);
            const before = window.answered ?? 0;
            \(form.submit)
            await until('the request', () => window.answered > before);
            await until('its end', () => m['core/model.js'].model.outbox.every(({ path, state }) => path !== form.path || state !== 'waiting'));
            const place = refusal.field ? `#${form.id}-problem` : `${form.place} .problem`;
            await until(refusal.said, () => [...document.querySelectorAll(place)].some((one) => isShown(one.innerText)))
                .catch((error) => lacking.push(`${refusal.code}: ${error.message}`));
            if (refusal.field && !document.querySelector(`#${form.id}[aria-invalid=true]`)) lacking.push(`${refusal.code} isn’t marked`);
            if (document.querySelector('.toast.critical')) lacking.push(`${refusal.code} in passing`);
            if (lacking.length > 3) break;
            \(form.after)
        }
        window.refused = undefined;
        return lacking;
        """
    }

    private static let security = "[aria-labelledby=security-title]"
    private static let discard = """
        (await until('a way to discard it', () => [...document.querySelectorAll(`${form.place} .standing button`)].at(-1))).click();
        await until('it to be gone', () => !document.querySelector('.standing'));
        """
    private static let cancel = "await press('Cancel');"

    private static let forms: [Form] = [
        Form(page: "/", path: "/v1/commands/CheckIn", place: ".check-in", submit: "await press('I’m all right');"),
        Form(
            page: "/", path: "/v1/commands/RaiseAlert", place: ".alert-card",
            submit: "await confirm('Raise an alert', 'Raise the alert');"),
        Form(
            page: "/", path: "/v1/commands/SetCheckInInterval", place: ".check-in",
            submit: "document.querySelector('details').open = true; await pick('#interval', '3600000000');"),
        Form(
            page: "/", path: "/v1/commands/SetCheckInReminders", place: ".check-in",
            submit:
                "document.querySelector('details').open = true; (await find('.check-in details > fieldset .toggle input:enabled')).click();"
        ),
        Form(
            page: "/", path: "/v1/commands/SetCheckInGrace", place: ".check-in",
            submit: "document.querySelector('details').open = true; await pick('#grace', '600000000');"),
        Form(
            page: "/", path: "/v1/commands/SetDailyCheckIns", place: ".check-in",
            submit: """
                document.querySelector('details').open = true;
                (await find('#daily-times button[type=submit]')).click();
                """),
        Form(
            page: "/", path: "/v1/commands/SetResponderTiers", place: ".check-in",
            submit: """
                document.querySelector('details').open = true;
                await pick('select[id^=tier-]', '900000000');
                """),
        Form(
            page: "/", path: "/v1/commands/SetPingEscalation", place: ".check-in",
            submit: "document.querySelector('details').open = true; await pick('#ping-escalation', '1800000000');"),
        Form(
            page: "/", path: "/v1/commands/SetPingQuietHours", place: ".check-in",
            submit: "document.querySelector('details').open = true; (await find('#quiet')).click();"),
        Form(
            page: "/", path: "/v1/commands/PauseCheckIns", place: ".check-in",
            submit: """
                document.querySelector('details').open = true; await pick('#pause', '86400000000');
                await press('Pause');
                """),
        Form(
            page: "/", path: "/v1/commands/StartTrip", place: ".trip",
            submit: """
                document.querySelector('.trip details').open = true; await type('#trip-name', 'Lake');
                await press('Start the trip');
                """),
        Form(
            page: "/", path: "/v1/commands/RunDrill", place: ".drill",
            submit: "await confirm('Run a drill', 'Run the drill');"),
        Form(
            page: "/contacts", path: "/v1/commands/AddContact", place: ".add",
            submit: "await type('#add-who', '01a1b2c3-0000-7000-8000-0123456789ab'); await press('Add');",
            words: ["That isn’t a code. It looks like 01a2b3c4-… or is a link."]),
        Form(
            page: "/contacts", path: "/v1/commands/SetContactApproval", place: ".card",
            submit: "await turn('Ask me first');"),
        Form(
            page: "/contacts", path: "/v1/commands/ResetContactCode", place: ".card",
            submit: "await confirm('Make a new code');"),
        Form(
            page: "/contacts", path: "/v1/commands/ApproveContactRequest", place: ".plain",
            submit: "await press('Accept');"),
        Form(
            page: "/contacts", path: "/v1/commands/DeclineContactRequest", place: ".plain",
            submit: "await press('Decline');"),
        Form(
            page: "{bob}", path: "/v1/commands/SendPing", place: ".head", submit: "await press('Are you all right?');"),
        Form(
            page: "{bob}", path: "/v1/commands/UpdateContact", place: "[aria-label='Only for you']",
            submit: "await type('#nickname', refusal.code); await press('Save');", after: discard,
            field: ("nickname", "nickname")),
        Form(
            page: "{bob}", path: "/v1/commands/UpdateContact", place: "[aria-labelledby=roles-title]",
            submit: "await turn('They may ping me');", after: discard),
        Form(
            page: "{bob}", path: "/v1/commands/RemoveContact", place: "[aria-label='Ending it']",
            submit: "await confirm('Remove');"),
        Form(
            page: "{bob}", path: "/v1/commands/BlockContact", place: "[aria-label='Ending it']",
            submit: "await confirm('Block');"),
        Form(
            page: "/me", path: "/v1/commands/UpdateProfile", place: "[aria-label=Profile]",
            submit: "await type('#name', refusal.code); await press('Save');", after: discard,
            field: ("name", "name")),
        Form(
            page: "/me", path: "/v1/account/avatar", method: "PUT", place: ".head",
            submit: """
                const chosen = new DataTransfer();
                chosen.items.add(new File(['x'], 'me.png', { type: 'image/png' }));
                (await find('input[type=file]')).files = chosen.files;
                (await find('input[type=file]')).dispatchEvent(new Event('change', { bubbles: true }));
                """),
        Form(
            page: "/me", path: "/v1/sign-out", place: "[aria-labelledby=devices-title]",
            submit: "await press(say('Sign out {0}').replace('{0}', 'phone'));"),
        Form(
            page: "/me", path: "/v1/commands/UpdateSecurity", place: security,
            submit: "await turn('One device at a time');"),
        Form(
            page: "/me", path: "/v1/recovery-codes", place: security, submit: "await press('Make new codes');"),
        Form(
            page: "/me", path: "/v1/change-password", place: "dialog",
            submit: """
                await press('Change the password');
                await type('#password', 'the old password');
                await type('#new-password', 'the new password');
                await press('Change');
                """, after: cancel, field: ("newPassword", "new-password")),
        Form(
            page: "/me", path: "/v1/phone", place: "dialog",
            submit: "await press('Add a phone'); await type('#phone', '+49 30 123456'); await press('Send a code');",
            after: cancel, field: ("phone", "phone")),
        Form(
            page: "/me", path: "/v1/operations/CloseAccount", place: security,
            submit: "await confirm('Close the account');"),
        Form(
            page: "/notifications", path: "/v1/commands/ScheduleReminder", place: ".reminders",
            submit: """
                document.querySelector('.reminders details').open = true; await type('#reminder-text', 'Tea');
                await type('#reminder-due', new Date(Date.now() + 86400000 * 3).toISOString().slice(0, 16)); await press('Remind me');
                """, field: ("due", "reminder-due")),
        Form(
            page: "/notifications", path: "/v1/commands/MarkAllRead", place: "section",
            submit: "await press('Mark all as read');"),
        Form(
            page: "/together", path: "/v1/commands/CreateGroupSession", place: "form",
            submit: "await type('#group-title', refusal.code); await press('Start');",
            field: ("activity.title", "group-title")),
        Form(
            page: "{group}", path: "/v1/commands/ClaimSeat", place: "[aria-labelledby=group-title]",
            submit: "(await find('.seat.free:enabled')).click();"),
        Form(
            page: "{group}", path: "/v1/commands/SendGroupMessage", place: ".composer",
            submit: "await type('#message', refusal.code); await press('Send');"),
        Form(
            page: "{group}", path: "/v1/commands/ActivateGroupSession", place: "dialog",
            submit: "await press('Invite'); await turn('Bob'); await press('Send invitations');", after: cancel),
        Form(
            page: "{group}", path: "/v1/commands/LeaveGroupSession", place: "[aria-label=Leaving]",
            submit: "await press('Leave');"),
        Form(
            page: "{group}", path: "/v1/commands/EndGroupSession", place: "[aria-label=Leaving]",
            submit: "await confirm('End for all');"),
        Form(
            page: "/welcome", path: "/v1/sign-in", place: "main form",
            submit: """
                await begin(refusal, 'Sign in');
                await type('#welcome-handle', 'bob');
                await type('#welcome-password', 'not the password');
                await press('Sign in');
                """),
        Form(
            page: "/welcome", path: "/v1/sign-in/codes", place: "main form",
            submit: """
                await begin(refusal, 'Sign in', 'Use a phone');
                await type('#welcome-phone', '+49 30 123456');
                await press('Send a code');
                """),
    ]
}
