public import Foundation
public import QuartetAPI
public import QuartetContactsContract
public import QuartetNotificationsContract
public import QuartetSessionContract
import QuartetVocabulary

/// What an app says to people, by keys: notifications, errors and the connection's state. English and German come with it; an app
/// replaces texts, or adds a language, by a catalogue of its own.
///
/// ```swift
/// let texts = Texts()
/// texts.sentence(notification, name: "Bob")    // Bob asks: are you all right?
/// let french = Texts(language: "fr", replacing: ["connection.connected": "Connecté"])
/// ```
public struct Texts: Sendable {
    /// Texts by their keys, as in `notification.pingReceived`. `{name}`, `{deadline}`, `{lead}`, `{count}`, `{text}`, `{reminder}`,
    /// `{role}`, `{pressed}` and `{at}` stand for what a notification is about, `{names}` for responders, `{reason}` and `{attempt}` for
    /// what an error or a state adds, `{time}` for when a person did something, `{span}` for how soon a drill got through, `{title}` for what
    /// others could take part in, `{ago}` and `{ahead}` for how far something is from now.
    public typealias Catalogue = [String: String]

    /// The languages that come with it, by their codes.
    public static let catalogues: [String: Catalogue] = ["en": english, "de": german]

    private let catalogue: Catalogue
    let locale: Locale
    private let timeZone: TimeZone
    /// Whether the server's own sentences are in its language.
    private let isEnglish: Bool

    /// - Parameters:
    ///   - languages: A person's, the favourite one first; the first of which there are texts is used, or else English.
    ///   - language: The language of `replacing`, where none is to be chosen: one that the app adds, for instance.
    ///   - replacing: Texts of the app's own; those that it leaves out stay, in English for a language that it adds.
    public init(
        languages: [String] = Locale.preferredLanguages, language: String? = nil, replacing: Catalogue = [:],
        timeZone: TimeZone = .current
    ) {
        /// Of `de-AT` and `de_AT`, `de`.
        func base(_ language: String) -> String {
            String(language.prefix { $0 != "-" && $0 != "_" }).lowercased()
        }
        let chosen = language ?? languages.first { Self.catalogues[base($0)] != nil } ?? "en"
        let code = base(chosen)
        catalogue = Self.english.merging(Self.catalogues[code] ?? [:]) { $1 }.merging(replacing) { $1 }
        // A person's region is in their own list: with `fr-CA` there, the app's `fr` writes dates as in Canada.
        locale = Locale(identifier: languages.first { base($0) == code } ?? chosen)
        self.timeZone = timeZone
        isEnglish = code == "en"
    }

    // MARK: Notifications

    /// What a notification says.
    /// - Parameter name: What the person calls the one it is about; nil for somebody whose name isn't known.
    public func sentence(_ notification: QuartetNotification, name: String?) -> String {
        sentence(notification.kind, notification.details, name: name, moment: moment, span: span)
    }

    /// - Parameters:
    ///   - moment: Writes a time. The terminal app has little room and writes it shorter than a locale does.
    ///   - span: Writes a span of time.
    package func sentence(
        _ kind: NotificationKind, _ details: NotificationDetails, name: String?, moment: (Instant) -> String,
        span: (Interval) -> String
    ) -> String {
        var values = ["name": name ?? self["someone"], "role": role(details)]
        values["deadline"] = details.deadline.map(moment)
        values["lead"] = details.lead.map(span)
        values["count"] = details.count.map { "\($0)" }
        values["text"] = details.text
        values["onIt"] = details.onItUntil.map(moment)
        values["paused"] = details.pausedUntil.map(moment)
        values["grace"] = details.isOfGrace ? details.graceEnds.map(moment) : nil
        values["reminder"] = details.reminder.map { $0.isEmpty ? self["reminder.unread"] : $0 }
        values["trip"] = details.trip.map { "\($0)" }
        values["pinged"] = details.pinged.map(moment)
        values["at"] = details.at.map(moment)
        values["pressed"] = details.at == nil ? nil : details.pressed.map(moment)
        if let drill = details.drill, let news = details.drillNews { values[news.form] = "\(drill)" }
        let key = "notification.\(kind.rawValue)"
        // The text that says most of what is known.
        let forms = [
            "count.one", "drill", "drillEnded", "ownDrill", "ownDrillOver", "reminder", "pressed", "pinged", "trip",
            "grace", "onIt", "paused", "deadline", "lead", "count", "text",
        ].filter { form in
            form == "count.one" ? details.count == 1 : values[form] != nil
        }
        let form = forms.first { catalogue["\(key).\($0)"] != nil }
        let text = filled(form.map { "\(key).\($0)" } ?? key, values)
        guard [.dependentAlertRaised, .alertRaised, .checkInMissed, .dependentCheckInMissed].contains(kind),
            let count = values["count"]
        else { return text }
        return filled("notification.repeated", ["text": text, "count": count])
    }

    private func role(_ details: NotificationDetails) -> String {
        switch (details.isMyResponder ?? false, details.iAmResponder ?? false) {
        case (true, true): self["role.both"]
        case (true, false): self["role.theirs"]
        case (false, true): self["role.mine"]
        case (false, false): self["role.none"]
        }
    }

    func moment(_ time: Instant) -> String {
        let date = Date(timeIntervalSince1970: Double(time.microseconds) / 1_000_000)
        var style = Date.FormatStyle(date: .abbreviated, time: .shortened, locale: locale)
        style.timeZone = timeZone
        return date.formatted(style)
    }

    private func span(_ interval: Interval) -> String {
        interval.duration.formatted(
            .units(allowed: [.days, .hours, .minutes], width: .wide, maximumUnitCount: 2).locale(locale))
    }

    // MARK: Onboarding

    /// What is left to do before the account is useful to others; nil if nothing is.
    public func sentence(_ onboarding: Onboarding) -> String? {
        switch onboarding {
        case .needsProfile: self["onboarding.needsProfile"]
        case .done: nil
        }
    }

    // MARK: Responders

    /// Why nobody would be told of an alarm; nil if somebody would be. What to read to somebody who is about to become a
    /// responder is under the key `reach.consent`.
    /// - Parameter names: What the person calls their responders.
    public func sentence(_ reach: ResponderReach, responders names: [String]) -> String? {
        switch reach {
        case .nobody: return self["reach.nobody"]
        case .unreachable:
            let key = names.count == 1 ? "reach.unreachable.one" : "reach.unreachable"
            return filled(key, ["names": names.joined(separator: ", ")])
        case .reachable: return nil
        }
    }

    /// Who hears of a missed check-in, and when; nil if nobody does. See ``ReadOnlyContactsState/hearingOrder``.
    /// - Parameters:
    ///   - order: The soonest first.
    ///   - time: When the first of them hear: the deadline, or the end of the grace after it.
    ///   - name: What the person calls somebody.
    public func sentence(hearing order: [ResponderTier], from time: Instant, name: (AccountID) -> String) -> String? {
        guard !order.isEmpty else { return nil }
        let parts = order.map { tier in
            let names = tier.responders.map(name).joined(separator: ", ")
            return filled("tiers.one", ["names": names, "time": moment(time + tier.after)])
        }
        return filled("tiers", ["parts": parts.joined(separator: "; ")])
    }

    /// What somebody answered to an alarm.
    /// - Parameter name: What the person calls the one who answered; nil for somebody whose name isn't known.
    public func sentence(_ given: GivenAlarmAnswer, name: String?, now: Instant) -> String {
        sentence(given, name: name, now: now, moment: moment)
    }

    /// - Parameter moment: Writes a time.
    package func sentence(
        _ given: GivenAlarmAnswer, name: String?, now: Instant, moment: (Instant) -> String
    ) -> String {
        let isOver = given.answer == .onIt && given.until.map { $0 <= now } ?? true
        return filled(
            isOver ? "alarm.wasOnIt" : "alarm.\(given.answer.rawValue)",
            ["name": name ?? self["alarm.somebody"], "time": moment(given.until ?? given.answered)])
    }

    // MARK: Drills

    /// What a responder's drill came to: when it was ready for them, and whether they said that they got it.
    /// - Parameters:
    ///   - drill: The drill as the same report has it: whoever hadn't been notified by then may have been since.
    ///   - name: What the person calls the responder.
    public func sentence(_ receipt: DrillReceipt, of drill: DrillState, name: String) -> String {
        guard let notified = receipt.notified else {
            return filled(drill.isOn ? "drill.receipt.waiting" : "drill.receipt.untold", ["name": name])
        }
        /// In seconds, since all times are the server's.
        func after(_ time: Instant) -> String {
            let seconds = max(time.microseconds - drill.began.microseconds, 0) / 1_000_000
            return Duration.seconds(seconds).formatted(
                .units(allowed: [.hours, .minutes, .seconds], width: .wide, maximumUnitCount: 2).locale(locale))
        }
        let ready = filled("drill.receipt.ready", ["name": name, "span": after(notified)])
        let answer =
            receipt.answered.map { filled("drill.receipt.answered", ["span": after($0)]) }
            ?? self[drill.isOn ? "drill.receipt.unanswered" : "drill.receipt.none"]
        return "\(ready); \(answer)"
    }

    // MARK: Errors

    /// Why something didn't happen, or hasn't yet.
    public func sentence(_ error: QuartetError) -> String {
        switch error {
        case .refused(let error): sentence(error)
        case .willBeSentWhenOnline: self["problem.willBeSentWhenOnline"]
        case .serverError(let error): filled("problem.serverError", ["reason": sentence(error)])
        case .expired: self["problem.expired"]
        case .outboxFull: self["problem.outboxFull"]
        case .superseded: self["problem.superseded"]
        case .notStored: self["problem.notStored"]
        case .offline: self["problem.offline"]
        case .unknown: self["problem.unknown"]
        case .needsAuthentication: self["problem.needsAuthentication"]
        case .tokensUnavailable: self["problem.tokensUnavailable"]
        case .signOutUntold: self["problem.signOutUntold"]
        case .tooManyAccounts(let limit): filled("problem.tooManyAccounts", ["limit": "\(limit)"])
        case .notConfigured: self["problem.notConfigured"]
        case .cancelled: self["problem.cancelled"]
        case .unreadable: self["problem.unreadable"]
        }
    }

    /// Why the server refused something. In English, it has more to say about some cases than their codes do.
    public func sentence(_ error: APIError) -> String {
        if let text = catalogue["error.\(error.code.rawValue)"] { return text }
        return isEnglish ? error.detail : self[error.code.group]
    }

    // MARK: Unsent changes

    /// What a card says.
    /// - Parameter name: What the person calls the one it is about; nil for somebody whose name isn't known.
    public func sentence(_ change: UnsentChange, name: String?) -> String {
        sentence(change, name: name, moment: moment)
    }

    /// - Parameter moment: Writes a time.
    package func sentence(_ change: UnsentChange, name: String?, moment: (Instant) -> String) -> String {
        let kind =
            switch change.reason {
            case .unknown: "unknown"
            case .refused: "refused"
            case .expired, .superseded, .signedOut: "unsent"
            }
        let key = "\(kind).\(change.command)"
        return filled(
            catalogue[key] == nil ? "\(kind).change" : key,
            [
                "name": name ?? self["unsent.someone"], "time": moment(change.acted),
                "reason": kind == "unsent"
                    ? self["unsent.reason.\(change.reason.rawValue)"] : change.refusal.map { sentence($0) } ?? "",
            ])
    }

    /// What signing out dropped.
    /// - Parameter commands: As in ``Outbox/dropped``.
    /// - Returns: Nil if that is nothing.
    public func sentence(dropped commands: [String]) -> String? {
        switch commands.count {
        case 0: nil
        case 1: self["dropped.one"]
        default: filled("dropped.count", ["count": "\(commands.count)"])
        }
    }

    // MARK: Together

    /// What an app asks before something begins that others could take part in.
    public func sentence(_ prompt: GroupActivationPrompt) -> String {
        filled("activation.question", ["title": prompt.title])
    }

    /// What stands on the button of a choice.
    public func sentence(_ choice: GroupActivation) -> String { self["activation.\(choice.rawValue)"] }

    /// Why nothing can be done together with others.
    public func sentence(_ obstacle: GroupEligibility.Obstacle) -> String { self["eligibility.\(obstacle.rawValue)"] }

    // MARK: The connection

    public func sentence(_ state: ConnectionState) -> String {
        switch state {
        case .notConfigured: self["connection.notConfigured"]
        case .disconnected: self["connection.disconnected"]
        case .connecting: self["connection.connecting"]
        case .connected: self["connection.connected"]
        case .reconnecting(let attempt): filled("connection.reconnecting", ["attempt": "\(attempt)"])
        case .notSignedIn: self["connection.notSignedIn"]
        case .needsAuthentication: self["connection.needsAuthentication"]
        case .failed: self["connection.failed"]
        }
    }

    /// The connection and the group session in one label.
    public func sentence(_ status: ConnectionStatus) -> String {
        status.connection.isConnected && status.isInSession
            ? self["connection.inSession"] : sentence(status.connection)
    }

    /// Why there is no connection. In English, it has more to say about most cases.
    public func sentence(lost error: ConnectionError) -> String {
        switch error {
        case .notSignedIn: self["lost.notSignedIn"]
        case .signedOut(nil): self["lost.signedOut"]
        case .signedOut: isEnglish ? error.description : self["lost.signedOut"]
        case .refused(let error): sentence(error)
        case .tokensUnavailable: self["problem.tokensUnavailable"]
        case .tokensUnreadable: self["lost.tokensUnreadable"]
        case .tokenRefused: isEnglish ? error.description : self["lost.tokenRefused"]
        case .outOfSequence, .stale: isEnglish ? error.description : self["lost.again"]
        case .transport, .silent, .ended, .closed: isEnglish ? error.description : self["lost.connection"]
        }
    }

    // MARK: Keys

    /// The text of a key; the key itself where there is none, so that it is noticed.
    public subscript(key: String) -> String { catalogue[key] ?? key }

    func filled(_ key: String, _ values: [String: String]) -> String {
        var (text, rest) = ("", self[key][...])
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            text += values[String(rest[rest.index(after: open)..<close])] ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}

extension APIError.Code {
    /// The key of what is said about codes that concern the app's program more than the person.
    var group: String {
        switch httpStatus {
        case 429: "errors.tooMany"
        case 500...: "errors.server"
        case 409, 422: "errors.refused"
        default: "errors.program"
        }
    }
}

extension DrillNews {
    /// The form of a notification's text that says it.
    fileprivate var form: String {
        switch self {
        case .anothersIsOn: "drill"
        case .anothersIsOver: "drillEnded"
        case .ownIsOn: "ownDrill"
        case .ownIsOver: "ownDrillOver"
        }
    }
}
