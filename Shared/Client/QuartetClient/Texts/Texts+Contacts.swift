import Foundation
import QuartetAPI
import QuartetContactsContract
import QuartetSessionContract
public import QuartetVocabulary

extension Texts {
    /// How a list writes times. The terminal app has little room and writes them shorter than a locale does.
    package struct ListTimes {
        let moment: (Instant) -> String
        /// How long ago something was.
        let ago: (Instant) -> String
        /// In how long something will be.
        let ahead: (Interval) -> String

        package init(
            moment: @escaping (Instant) -> String, ago: @escaping (Instant) -> String,
            ahead: @escaping (Interval) -> String
        ) {
            (self.moment, self.ago, self.ahead) = (moment, ago, ahead)
        }
    }

    /// What stands above a group of contacts.
    public func sentence(_ title: ContactGroup.Title) -> String {
        switch title {
        case .level(let level): sentence(level)
        case .initial(let letter): letter
        }
    }

    /// How contacts are.
    public func sentence(_ level: ContactLevel) -> String {
        switch level {
        case .alert: self["level.alert"]
        case .veryLate: self["level.veryLate"]
        case .missed: self["level.missed"]
        case .asksMe: self["level.asksMe"]
        case .pinged: self["level.pinged"]
        case .dueSoon: self["level.dueSoon"]
        case .notYet: self["level.notYet"]
        case .fine: self["level.fine"]
        case .paused: self["level.paused"]
        case .quiet: self["level.quiet"]
        case .plain: self["level.plain"]
        }
    }

    /// What a list of contacts is sorted by.
    public func sentence(_ sort: ContactSort) -> String { self["sort.\(sort.rawValue)"] }

    /// How a contact is, with the times that say why.
    public func sentence(_ listed: ListedContact, at now: Instant) -> String {
        sentence(listed, at: now, ListTimes(moment: moment, ago: { ago($0, now) }, ahead: { relative($0) }))
    }

    package func sentence(_ listed: ListedContact, at now: Instant, _ times: ListTimes) -> String {
        let (contact, checkIn) = (listed.contact, listed.person?.checkIn)
        func filled(_ key: String, time: Instant? = nil, ago: Instant? = nil) -> String {
            self.filled("contact.\(key)", ["time": time.map(times.moment) ?? "", "ago": ago.map(times.ago) ?? ""])
        }
        switch listed.level {
        case .alert: return alert(of: listed, times)
        case .veryLate, .missed: return filled("missed", time: checkIn?.due, ago: checkIn?.due)
        case .asksMe: return filled("asksMe", ago: contact.incomingPing)
        case .pinged:
            guard let asked = contact.outgoingPing, let last = checkIn?.last, last > asked else {
                return filled("pinged", ago: contact.outgoingPing)
            }
            return filled("pinged.checkedIn", ago: last)
        case .dueSoon:
            guard let due = checkIn?.due, due > now else { return self["contact.due"] }
            return self.filled("contact.dueSoon", ["ahead": times.ahead(due - now)])
        case .notYet: return filled("notYet", time: checkIn?.due)
        case .fine: return filled("fine", ago: checkIn?.last)
        case .paused: return filled("paused", time: checkIn?.pausedUntil)
        case .quiet: return self["contact.quiet"]
        case .plain: return self[listed.person == nil ? "contact.unknown" : "contact.plain"]
        }
    }

    private func alert(of listed: ListedContact, _ times: ListTimes) -> String {
        guard let person = listed.person, let raised = person.alertRaised else { return "" }
        var text = filled("contact.alert", ["time": times.moment(raised)])
        func add(_ key: String, _ values: [String: String] = [:]) {
            text = filled("contact.alert.\(key)", values.merging(["text": text]) { $1 })
        }
        // Who has called for help, too, has done that above all.
        if let call = person.lateCall {
            add("late", ["pressed": times.moment(call.pressed), "at": times.moment(call.received)])
        } else if person.unanswered.map({ $0.isCalled == true }) ?? (person.trip?.isCalled == true) {
            add("called")
        }
        if let unanswered = person.unanswered { add("pinged", ["time": times.moment(unanswered.pinged)]) }
        if let trip = person.trip {
            add(trip.isCalled == true ? "wasOnTrip" : "trip", ["trip": trip.name, "time": times.moment(trip.eta)])
        }
        return text
    }

    private func ago(_ time: Instant, _ now: Instant) -> String {
        now - time < .seconds(10) ? self["time.now"] : relative(time - now)
    }

    /// A span in its largest unit, as in `in 3 hours` or, if it is negative, `3 hours ago`.
    private func relative(_ span: Interval) -> String {
        let seconds = abs(span.microseconds) / 1_000_000
        let unit: Int64 = [86_400, 3600, 60].first { seconds >= $0 } ?? 1
        let whole = Double(max(1, seconds / unit) * unit)
        // The style rounds what has passed since: a little more than whole units stays whole.
        let date = Date(timeIntervalSinceNow: span < .seconds(0) ? -whole - 0.4 : whole + 0.4)
        return Date.RelativeFormatStyle(
            allowedFields: [.day, .hour, .minute, .second], presentation: .numeric, unitsStyle: .wide, locale: locale
        ).format(date)
    }
}
