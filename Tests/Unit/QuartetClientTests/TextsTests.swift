import Foundation
import QuartetAPI
import QuartetClient
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import TestKit
import Testing

@Suite
struct TextsTests {
    private static let details = NotificationDetails(
        deadline: Instant(microseconds: 1_800_000_000_000_000), lead: .minutes(90), count: 3, isMyResponder: true,
        text: "a tablet")

    private static func sentence(
        _ kind: NotificationKind, _ details: NotificationDetails = .none, in language: String, name: String? = "Bob"
    ) throws -> String {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let id = NotificationID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0007)
        return Texts(languages: [language], timeZone: zone).sentence(
            .init(id: id, kind: kind, details: details, created: Instant(microseconds: 1)), name: name)
    }

    @Test("every notification has a text in every language, whatever is known of it, and no placeholder stays (P9)")
    func notifications() throws {
        for kind in NotificationKind.allCases {
            for details in [NotificationDetails.none, Self.details] {
                let texts = try ["en", "de"].map { try Self.sentence(kind, details, in: $0) }
                for text in texts {
                    #expect(!text.isEmpty && !text.contains("{") && !text.contains("notification."), "\(kind): \(text)")
                }
                if !texts.allSatisfy({ $0 == details.text }) { #expect(texts[0] != texts[1], "\(kind)") }
            }
        }
        #expect(try Self.sentence(.pingReceived, in: "de-AT") == "Bob fragt: Alles in Ordnung?")
        #expect(try Self.sentence(.pingReceived, in: "en", name: nil) == "Someone asks: are you all right?")
        #expect(try Self.sentence(.pingsCleared, .init(count: 1), in: "en") == "You answered one ping")
        #expect(try Self.sentence(.pingsCleared, .init(count: 2), in: "de") == "Du hast 2 Nachfragen beantwortet")
        #expect(
            try Self.sentence(.dependentAlertRaised, .init(count: 2), in: "en") == "Bob raised an alert (reminder 2)")
        #expect(try Self.sentence(.checkInReminder, .init(lead: .minutes(90)), in: "de").contains("1 Stunde"))
        #expect(try Self.sentence(.checkInMissed, Self.details, in: "de").contains("2027"))
    }

    @Test(
        "a grace, a pause, a trip, a question and a late call have texts with their times in every language, which name others (A2, A3, A5, A7, S34)"
    )
    func times() throws {
        let (early, late) = (Instant(microseconds: 1_800_000_000_000_000), Instant(microseconds: 1_900_000_000_000_000))
        let known: [(NotificationKind, NotificationDetails, name: Bool, years: [String])] = [
            (.checkInMissed, .init(deadline: early, graceEnds: late), false, ["2027", "2030"]),
            (.checkInReminder, .init(deadline: late, pausedUntil: early), false, ["2027", "2030"]),
            (.system, .init(deadline: late, pausedUntil: early, text: "raw"), true, ["2027"]),
            (.system, .init(deadline: late, text: "raw"), true, ["2030"]),
            (.system, .init(onItUntil: late, text: "raw"), true, ["2030"]),
            (.checkInReminder, .init(deadline: late, trip: .new(), text: "raw"), false, ["2030"]),
            (
                .checkInMissed, .init(deadline: early, graceEnds: late, trip: .new(), text: "raw"), false,
                ["2027", "2030"]
            ),
            (.alertRaised, .init(deadline: early, trip: .new(), alarm: .new(), text: "raw"), false, ["2027"]),
            (.dependentAlertRaised, .init(deadline: early, alarm: .new()), true, ["2027"]),
            (
                .checkInMissed,
                .init(deadline: late, graceEnds: late, pinged: early, pinger: .new(), text: "raw"), true,
                ["2027", "2030"]
            ),
            (
                .checkInReminder,
                .init(deadline: late, graceEnds: late, pinged: early, pinger: .new(), text: "raw"), true,
                ["2027", "2030"]
            ),
            (.alertRaised, .init(pinged: early, pinger: .new(), alarm: .new(), text: "raw"), true, ["2027"]),
            (.dependentAlertRaised, .init(pinged: early, pinger: .new(), alarm: .new()), true, ["2027"]),
            (.alertRaised, .init(at: late, pressed: early, alarm: .new()), false, ["2027", "2030"]),
            (.dependentAlertRaised, .init(at: late, pressed: early, alarm: .new()), true, ["2027", "2030"]),
            (.system, .init(at: early, drill: .new(), drillEnds: late, text: "raw"), true, []),
            (.system, .init(at: early, drill: .new(), text: "raw"), true, []),
            (.system, .init(at: early, drill: .new(), drillEnds: late, isOwnDrill: true, text: "raw"), false, []),
            (.system, .init(at: early, drill: .new(), isOwnDrill: true, text: "raw"), false, []),
        ]
        for (kind, details, isNamed, years) in known {
            let texts = try ["en", "de"].map { try Self.sentence(kind, details, in: $0) }
            #expect(texts[0] != texts[1])
            for text in texts {
                #expect(text.contains("Bob") == isNamed && years.allSatisfy(text.contains), "\(text)")
                #expect(!text.contains("{") && !text.contains("raw"), "\(text)")
            }
        }
        // Once the alarm is on, the time says how late it was.
        let missed = NotificationDetails(deadline: early, graceEnds: late, alarm: .new())
        #expect(try Self.sentence(.checkInMissed, missed, in: "en").hasPrefix("You missed your check-in"))
    }

    @Test(
        """
        a drill says before anything else that it is one, in every language; no text of an alarm says so (A11)
        """)
    func drills() throws {
        let drill = NotificationDetails(drill: .new(), drillEnds: Instant(microseconds: 1), text: "raw")
        for (language, word) in [("en", "Drill, no alarm"), ("de", "Probe, kein Alarm")] {
            #expect(try Self.sentence(.system, drill, in: language).hasPrefix(word))
            for kind in NotificationKind.allCases where kind != .system {
                let plain = try Self.sentence(kind, .init(text: "raw"), in: language)
                #expect(try Self.sentence(kind, drill, in: language) == plain)
            }
        }
    }

    @Test("a reminder says that it is one, in its person's own words, or that these are still to be read (S39)")
    func reminders() throws {
        for (language, words) in [("en", ["Reminder: ", "open the app"]), ("de", ["Erinnerung: ", "öffne die App"])] {
            let known = try Self.sentence(.system, .init(reminder: "Tea {name}"), in: language, name: nil)
            #expect(known == words[0] + "Tea {name}")
            let pushed = try Self.sentence(.system, .init(reminder: ""), in: language, name: nil)
            #expect(pushed.hasPrefix(words.joined()))
        }
    }

    @Test("somebody reads for whom a drill was ready, and who said that they got it, in every language (A11)")
    func receipts() {
        let began = Instant(microseconds: 1_800_000_000_000_000)
        let drill = DrillState(id: .new(), began: began, ends: began + .hours(1))
        let over = DrillState(
            id: drill.id, began: began, ends: drill.ends, ended: drill.ends, end: .over)
        let got = DrillReceipt(account: .new(), notified: began + .seconds(2), answered: began + .seconds(65))
        let silent = DrillReceipt(account: .new(), notified: began, answered: nil)
        let untold = DrillReceipt(account: .new(), notified: nil, answered: nil)
        let (english, german) = (Texts(languages: ["en"]), Texts(languages: ["de"]))
        let sentence = english.sentence(got, of: drill, name: "Bob")
        #expect(sentence == "ready for Bob after 2 seconds; got it after 1 minute, 5 seconds, they say")
        #expect(english.sentence(silent, of: drill, name: "Bob").hasSuffix("no answer yet"))
        #expect(english.sentence(silent, of: over, name: "Bob").hasSuffix("no answer"))
        #expect(english.sentence(untold, of: drill, name: "Bob") == "not ready for Bob yet")
        #expect(english.sentence(untold, of: over, name: "Bob") == "Bob wasn’t notified")
        for receipt in [got, silent, untold] {
            let texts = [english, german].map { $0.sentence(receipt, of: drill, name: "Bob") }
            #expect(texts[0] != texts[1] && texts.allSatisfy { $0.contains("Bob") && !$0.contains("{") })
        }
    }

    @Test("somebody reads why nobody would be told of an alarm, and nothing if somebody would be (A16)")
    func reach() {
        let texts = Texts(languages: ["en"])
        #expect(texts.sentence(.reachable, responders: ["Bob"]) == nil)
        #expect(texts.sentence(.nobody, responders: [])?.hasPrefix("Nobody would be told") == true)
        #expect(texts.sentence(.unreachable, responders: ["Bob", "Carol"])?.contains("Bob, Carol") == true)
        #expect(
            texts.sentence(.unreachable, responders: ["Bob"])?.hasPrefix("Your only responder, Bob, couldn't") == true)
        #expect(Texts(languages: ["de"]).sentence(.unreachable, responders: ["Bob"])?.hasPrefix("Nur Bob") == true)
    }

    @Test("somebody reads who hears of a missed check-in when, in every language (A10)")
    func order() throws {
        let (ben, cleo) = (AccountID.new(), AccountID.new())
        let order = [ResponderTier]([
            .init(after: .seconds(0), responders: [ben]), .init(after: .minutes(60), responders: [cleo]),
        ])
        let time = Instant(microseconds: 1_800_000_000_000_000)
        let sentences = try ["en", "de"].map { language in
            try #require(
                Texts(languages: [language]).sentence(hearing: order, from: time) { $0 == ben ? "Ben" : "Cleo" })
        }
        #expect(sentences[0] != sentences[1])
        for sentence in sentences {
            let names = try ["Ben", "Cleo"].map { try #require(sentence.firstRange(of: $0)).lowerBound }
            #expect(names[0] < names[1] && !sentence.contains("{"))
        }
        #expect(Texts(languages: ["en"]).sentence(hearing: [], from: time) { _ in "" } == nil)
    }

    @Test("the languages have the same keys and the same placeholders (P9)")
    func keys() {
        func placeholders(_ text: String?) -> [Substring] {
            (text ?? "").split(separator: "{").dropFirst().compactMap { $0.split(separator: "}").first }.sorted()
        }
        for (code, catalogue) in Texts.catalogues {
            let english = Texts.catalogues["en"] ?? [:]
            #expect(Set(catalogue.keys.filter { !$0.hasPrefix("error.") }) == Set(english.keys), "\(code)")
            for (key, text) in english { #expect(placeholders(text) == placeholders(catalogue[key]), "\(code) \(key)") }
            for key in catalogue.keys where key.hasPrefix("error.") {
                #expect(APIError.Code(rawValue: String(key.dropFirst("error.".count))) != nil, "\(key)")
            }
        }
    }

    @Test("every refusal and every problem is said in the person's language (P9, S24)")
    func errors() {
        let (english, german) = (Texts(languages: ["en"]), Texts(languages: ["de"]))
        for code in APIError.Code.allCases {
            #expect(english.sentence(APIError(code)) == code.sentence)
            let text = german.sentence(QuartetError.refused(APIError(code)))
            #expect(text != code.sentence && !text.contains("error"), "\(code): \(text)")
        }
        let problems: [QuartetError] = [
            .willBeSentWhenOnline, .serverError(APIError(.overloaded)), .expired, .outboxFull, .superseded,
            .notStored("x"),
            .offline,
            .unknown, .needsAuthentication, .tokensUnavailable("x"), .signOutUntold,
            .tooManyAccounts(limit: 8), .notConfigured("x"), .cancelled,
            .unreadable("x"),
        ]
        let states: [ConnectionState] = [
            .notConfigured, .disconnected, .connecting, .connected, .reconnecting(attempt: 2), .notSignedIn,
            .needsAuthentication, .failed(.closed),
        ]
        let losses: [ConnectionError] = [
            .notSignedIn, .signedOut(nil), .signedOut(.revoked), .transport(.unreachable("x")), .silent,
            .refused(APIError(.overloaded)), .ended(.tokenExpired), .closed, .tokenRefused, .tokensUnavailable("x"),
            .tokensUnreadable, .outOfSequence(.contacts), .stale,
        ]
        let endings: [ConnectionState] = [.notSignedIn, .needsAuthentication, .failed(.closed)]
        let reasons: [ConnectionError] = [.notSignedIn, .signedOut(nil), .tokensUnreadable, .closed]
        for texts in [english, german] {
            #expect(Set(endings.map { texts.sentence($0) }).count == endings.count)
            #expect(Set(reasons.map { texts.sentence(lost: $0) }).count == reasons.count)
        }
        #expect(english.sentence(lost: .notSignedIn) == ConnectionError.notSignedIn.description)
        // Not everybody has another device.
        #expect(english.sentence(.signOutUntold).contains("here or elsewhere"))
        #expect(german.sentence(.signOutUntold).contains("hier oder auf einem anderen"))
        for (one, other) in problems.map({ (english.sentence($0), german.sentence($0)) })
            + states.map({ (english.sentence($0), german.sentence($0)) })
            + losses.map({ (english.sentence(lost: $0), german.sentence(lost: $0)) })
        {
            #expect(one != other && !one.contains("{") && !other.contains("{") && !one.contains("problem."))
        }
        // The server was there.
        for answered in [ConnectionError.tokenRefused, .outOfSequence(.contacts), .stale] {
            #expect(german.sentence(lost: answered) != german.sentence(lost: .closed))
        }
    }

    @Test("the button that connects again speaks the person's language (P9)")
    func retry() throws {
        let views = Products.package.appending(path: "Shared/Client/SwiftUI/Views.swift")
        #expect(try String(contentsOf: views, encoding: .utf8).contains(#"Button(Texts.current["connection.retry"]"#))
        #expect(Texts(languages: ["de"])["connection.retry"] == "Noch einmal")
    }

    @Test("an app replaces texts; a language that there is none for is English")
    func replacing() {
        let texts = Texts(languages: ["fr-FR", "de"], replacing: ["connection.connected": "Da"])
        #expect(texts["connection.connected"] == "Da" && texts["connection.connecting"] == "Verbindet …")
        #expect(Texts(languages: ["fr"])["connection.connected"] == "Connected" && texts["nonsense"] == "nonsense")
        // In a language that the app adds, missing texts are English, and refusals aren't the server's sentences.
        let french = Texts(languages: ["de"], language: "fr_CA", replacing: ["errors.refused": "Refusé."])
        #expect(french.sentence(APIError(.seatTaken)) == "Refusé." && french["connection.connected"] == "Connected")
    }

    @Test("the console says refusals, and what it says in the same English, in the same German")
    func console() throws {
        let file = Products.package.appending(path: "Services/SessionClient/Console/languages/de.json")
        let console = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
        let (english, german) = try (#require(Texts.catalogues["en"]), #require(Texts.catalogues["de"]))
        let isRefusal = { (key: String) in key.hasPrefix("error.") || key.hasPrefix("errors.") }
        #expect(console.filter { isRefusal($0.key) } == german.filter { isRefusal($0.key) })
        var compared = 0
        for (key, text) in english where !isRefusal(key) {
            // The console numbers what a text shows.
            let names = text.matches(of: /\{\w+\}/).map { $0.0 }
            func numbered(_ text: String) -> String {
                names.enumerated().reduce(text) { $0.replacing($1.element, with: "{\($1.offset)}") }
            }
            guard let theirs = console[numbered(text)] else { continue }
            compared += 1
            #expect(german[key].map(numbered) == theirs, "\(key)")
        }
        #expect(compared > 60)
    }
}
