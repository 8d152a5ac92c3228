import Foundation
import QuartetAPI
import QuartetContactsContract
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import TestKit
import Testing

@testable import QuartetClient

/// What lists of contacts say at a time that stands still.
@Suite("Lists of contacts")
struct ContactListTests {
    private static let now = Instant(microseconds: 1_800_000_000_000_000)

    private struct Row: Sendable {
        let level: ContactLevel
        let tone: StatusTone
        var contact = Contact(Server.person(1))
        var person = Person(account: Server.person(1), name: "Bob")
        let english: String
        let german: String
    }

    /// Times as they are written here: how many minutes before or after now.
    private static var times: Texts.ListTimes {
        Texts.ListTimes(
            moment: { "@\(minutes($0 - now))" }, ago: { "\(minutes(now - $0)) ago" }, ahead: { "in \(minutes($0))" })
    }

    private static func minutes(_ span: Interval) -> Int64 { span.microseconds / 60_000_000 }
    private static func time(_ minutes: Int64) -> Instant { now + .minutes(minutes) }

    private static func contact(_ change: (inout Contact) -> Void) -> Contact {
        var contact = Contact(Server.person(1))
        change(&contact)
        return contact
    }

    private static func person(
        _ checkIn: CheckInState? = nil, raised: Int64? = nil, call: LateCall? = nil, trip: PersonTrip? = nil,
        pings: PersonPings? = nil
    ) -> Person {
        Person(
            account: Server.person(1), name: "Bob", checkIn: checkIn, alertRaised: raised.map(time), lateCall: call,
            trip: trip, unanswered: pings)
    }

    private static func checkIn(
        last: Int64? = nil, due: Int64, missed: Bool = false, paused: Int64? = nil, every: Interval = .hours(24)
    ) -> CheckInState {
        CheckInState(
            interval: every, last: last.map(time), due: time(due), missed: missed, pausedUntil: paused.map(time))
    }

    private static let alarms = [
        Row(
            level: .alert, tone: .critical, person: person(raised: -3), english: "Alert since @-3",
            german: "Alarm seit @-3"),
        Row(
            level: .alert, tone: .critical,
            person: person(
                checkIn(due: -90, missed: true), raised: -3, call: LateCall(pressed: time(-20), received: time(-2))),
            english: "Alert since @-3; called for help at @-20, received @-2",
            german: "Alarm seit @-3; hat um Hilfe gerufen (@-20), eingegangen: @-2"),
        Row(
            level: .alert, tone: .critical,
            person: person(raised: -3, trip: PersonTrip(name: "Tea {time}", eta: time(-5))),
            english: "Alert since @-3; on a trip: Tea {time}, expected by @-5",
            german: "Alarm seit @-3; unterwegs: Tea {time}, erwartet bis @-5"),
        Row(
            level: .alert, tone: .critical,
            person: person(raised: -3, trip: PersonTrip(name: "Tea", eta: time(-5), isCalled: true)),
            english: "Alert since @-3; called for help; was on a trip: Tea, expected by @-5",
            german: "Alarm seit @-3; hat um Hilfe gerufen; war unterwegs: Tea, erwartet bis @-5"),
        Row(
            level: .alert, tone: .critical, person: person(raised: -3, pings: PersonPings(pinged: time(-40))),
            english: "Alert since @-3; hasn’t answered a ping of @-40",
            german: "Alarm seit @-3; hat auf eine Nachfrage (@-40) nicht geantwortet"),
        Row(
            level: .veryLate, tone: .critical, person: person(checkIn(due: -60, missed: true, every: .hours(1))),
            english: "Missed the check-in of @-60, 60 ago",
            german: "Hat die Rückmeldung versäumt, fällig @-60, 60 ago"),
        Row(
            level: .missed, tone: .critical, person: person(checkIn(due: -59, missed: true, every: .hours(1))),
            english: "Missed the check-in of @-59, 59 ago",
            german: "Hat die Rückmeldung versäumt, fällig @-59, 59 ago"),
    ]

    private static let others = [
        Row(
            level: .asksMe, tone: .warning,
            contact: contact { ($0.incomingPing, $0.outgoingPing) = (time(-4), time(-1)) },
            english: "Asked 4 ago whether you are all right",
            german: "Fragte 4 ago, ob bei dir alles in Ordnung ist"),
        Row(
            level: .pinged, tone: .warning, contact: contact { $0.outgoingPing = time(-4) },
            person: person(checkIn(last: -5, due: 1)), english: "You asked 4 ago; no answer yet",
            german: "Du hast gefragt, 4 ago; noch keine Antwort"),
        Row(
            level: .pinged, tone: .warning, contact: contact { $0.outgoingPing = time(-4) },
            person: person(checkIn(last: -3, due: 1)), english: "Checked in 3 ago; your question has no answer yet",
            german: "Hat sich gemeldet, 3 ago; deine Nachfrage hat noch keine Antwort"),
        Row(
            level: .dueSoon, tone: .warning, person: person(checkIn(last: -5, due: 119)), english: "Due in 119",
            german: "Fällig in 119"),
        Row(
            level: .dueSoon, tone: .warning, person: person(checkIn(due: 14, every: .hours(1))), english: "Due in 14",
            german: "Fällig in 14"),
        Row(
            level: .dueSoon, tone: .warning, person: person(checkIn(last: -5, due: 0)), english: "Due now",
            german: "Jetzt fällig"),
        Row(
            level: .notYet, tone: .neutral, person: person(checkIn(due: 120)), english: "First check-in due @120",
            german: "Erste Rückmeldung fällig: @120"),
        Row(
            level: .fine, tone: .good, person: person(checkIn(last: -5, due: 15, every: .hours(1))),
            english: "Checked in 5 ago", german: "Hat sich gemeldet, 5 ago"),
        Row(
            level: .paused, tone: .neutral, person: person(checkIn(last: -5, due: 1, paused: 1)),
            english: "Check-ins paused until @1", german: "Macht Pause bis @1"),
        Row(
            level: .fine, tone: .good, person: person(checkIn(last: -5, due: 600, paused: 0)),
            english: "Checked in 5 ago", german: "Hat sich gemeldet, 5 ago"),
        Row(level: .quiet, tone: .neutral, english: "Looks after you", german: "Passt auf dich auf"),
        Row(
            level: .plain, tone: .neutral, contact: contact { $0.isMyResponder = false }, english: "Contact",
            german: "Kontakt"),
    ]

    @Test(
        "how a contact is, what is said of it in each language, and how that looks, at a time that stands still (S47)")
    func statuses() {
        let (english, german) = (Texts(languages: ["en"]), Texts(languages: ["de"]))
        for row in Self.alarms + Self.others {
            let listed = ListedContact(row.contact, row.person, at: Self.now)
            #expect(listed.level == row.level && listed.level.tone == row.tone, "\(row.english)")
            #expect(english.sentence(listed, at: Self.now, Self.times) == row.english)
            #expect(german.sentence(listed, at: Self.now, Self.times) == row.german)
        }
        let unknown = ListedContact(Self.contact { $0.isMyResponder = false }, nil, at: Self.now)
        #expect(unknown.level == .plain && english.sentence(unknown, at: Self.now) == "Loading…")
        #expect(Set((Self.alarms + Self.others).map(\.level)) == Set(ContactLevel.allCases))
        #expect(ContactLevel.allCases == ContactLevel.allCases.sorted())
        #expect(ContactLevel.allCases.filter(\.isAlarm) == [.alert, .veryLate, .missed])
    }

    @Test("times are said in their largest whole unit, as people say them in each language (S47)")
    func spans() {
        let (english, german) = (Texts(languages: ["en"]), Texts(languages: ["de"]))
        let known: [(Int64, String, String)] = [
            (9, "just now", "gerade eben"), (10, "10 seconds ago", "vor 10 Sekunden"),
            (119, "1 minute ago", "vor 1 Minute"), (3 * 3600 + 3599, "3 hours ago", "vor 3 Stunden"),
            (40 * 86_400, "40 days ago", "vor 40 Tagen"),
        ]
        for (seconds, englishWords, germanWords) in known {
            let asked = Self.contact { $0.incomingPing = Self.now - .seconds(seconds) }
            let listed = ListedContact(asked, nil, at: Self.now)
            #expect(english.sentence(listed, at: Self.now) == "Asked \(englishWords) whether you are all right")
            #expect(german.sentence(listed, at: Self.now).hasPrefix("Fragte \(germanWords), ob"))
        }
        let due = ListedContact(Contact(Server.person(1)), Self.person(Self.checkIn(due: 61)), at: Self.now)
        #expect(english.sentence(due, at: Self.now) == "Due in 1 hour")
    }

    /// Anna's contacts, by their names.
    private static func contacts() -> ReadOnlyContactsState {
        let names = ["Zoë", "anna", "Ärzte", "Bob", "7 of 9", "ben"]
        let contacts = names.enumerated().map { number, name in
            var contact = Contact(Server.person(UInt64(number)), nickname: name)
            contact.added = time(Int64(number))
            contact.isMyResponder = number.isMultiple(of: 2)
            contact.iAmResponder = number < 3
            return contact
        }
        let people = [
            Person(account: Server.person(0), handle: "zoe", checkIn: checkIn(last: -5, due: 500)),
            Person(account: Server.person(1), checkIn: checkIn(due: -9, missed: true)),
            Person(account: Server.person(2), alertRaised: time(-1)),
            Person(account: Server.person(3), checkIn: checkIn(due: 400)),
        ]
        return ContactsClient.preview(
            ContactsState(account: Server.account, contacts: Ordered(contacts)), people: people
        ).contacts.value
    }

    private static func names(_ groups: [ContactGroup]) -> [String] {
        groups.map { $0.contacts.map { $0.name ?? "" }.joined(separator: ", ") }
    }

    @Test(
        "lists are in groups by status and by letter, in order by deadline and by age, and what is looked for is found (S47)"
    )
    func groups() {
        let contacts = Self.contacts()
        let status = contacts.grouped(at: Self.now)
        #expect(Self.names(status) == ["Ärzte", "anna", "Bob", "Zoë", "7 of 9", "ben"])
        let levels: [ContactLevel] = [.alert, .missed, .notYet, .fine, .quiet, .plain]
        #expect(status.compactMap(\.title) == levels.map { ContactGroup.Title.level($0) })
        let name = contacts.grouped(by: .name, at: Self.now)
        #expect(Self.names(name) == ["7 of 9", "anna, Ärzte", "ben, Bob", "Zoë"])
        #expect(name.compactMap(\.title) == ["#", "A", "B", "Z"].map { ContactGroup.Title.initial($0) })
        let due = contacts.grouped(by: .due, at: Self.now)
        #expect(Self.names(due) == ["anna, Bob, Zoë, 7 of 9, Ärzte, ben"] && due.first?.title == nil)
        let added = contacts.grouped(by: .added, at: Self.now)
        #expect(Self.names(added) == ["ben, 7 of 9, Bob, Ärzte, anna, Zoë"])
        #expect(Self.names(contacts.grouped(.dependents, by: .added, at: Self.now)) == ["Ärzte, anna, Zoë"])
        #expect(Self.names(contacts.grouped(.responders, by: .added, at: Self.now)) == ["7 of 9, Ärzte, Zoë"])
        for text in ["ZOE", " zoë ", "oe"] {
            #expect(Self.names(contacts.grouped(by: .name, searching: text, at: Self.now)) == ["Zoë"])
        }
        #expect(contacts.grouped(searching: "nobody", at: Self.now).isEmpty)
        // Each contact once, however the list is made.
        for sort in ContactSort.allCases {
            let ids = contacts.grouped(by: sort, at: Self.now).flatMap(\.contacts).map(\.id)
            #expect(ids.count == 6 && Set(ids) == Set(contacts.ids))
        }
    }

    @Test("names with numbers are in the order of these, as in the console (S47)")
    func numbers() {
        let contacts = ["Bob 10", "bob 9", "Bob 2", "10", "9"].enumerated().map { number, name in
            Contact(Server.person(UInt64(number)), nickname: name)
        }
        let state = ContactsState(account: Server.account, contacts: Ordered(contacts))
        let groups = ContactsClient.preview(state).contacts.value.grouped(by: .name, at: Self.now)
        #expect(Self.names(groups) == ["9, 10", "Bob 2, bob 9, Bob 10"])
    }

    @Test("the numbers on an app's tabs are what waits for its person, and whether somebody needs help (S47)")
    func badges() {
        func badges(
            _ user: (inout AccountState) -> Void = { _ in }, _ contacts: ReadOnlyContactsState? = nil
        ) -> AppBadges {
            var account = AccountState(account: Server.account)
            user(&account)
            let quartet = Quartet.failing { .notConfigured($0) }
            return AppBadges(
                user: UserClient.preview(account).user.value, contacts: contacts ?? quartet.contacts.contacts.value,
                notifications: quartet.notifications.notifications.value, groups: quartet.groups.groups.value,
                at: Self.now)
        }
        let none = badges()
        for badge in [none.checkIn, none.contacts, none.notifications, none.together] {
            #expect(badge == AppBadges.Badge(count: 0, isAlarm: false))
        }
        #expect(badges { $0.checkIn = Self.checkIn(due: 1) }.checkIn.count == 0)
        #expect(badges { $0.checkIn = Self.checkIn(due: 0) }.checkIn == .init(count: 1, isAlarm: true))
        #expect(badges { $0.checkIn = Self.checkIn(due: -5, missed: true) }.checkIn.count == 1)
        #expect(badges { $0.alertRaised = Self.now }.checkIn == .init(count: 1, isAlarm: true))
        #expect(badges({ _ in }, Self.contacts()).contacts == .init(count: 2, isAlarm: true))
        var state = ContactsState(account: Server.account)
        state.contacts = [Self.contact { ($0.incomingPing, $0.incomingRoleRequest) = (Self.now, Self.now) }]
        state.requests = [
            ContactRequest(
                account: Server.person(7), direction: .incoming, isMyResponder: true, iAmResponder: true,
                requested: Self.now),
            ContactRequest(
                account: Server.person(8), direction: .outgoing, isMyResponder: true, iAmResponder: true,
                requested: Self.now),
        ]
        let waiting = ContactsClient.preview(state).contacts.value
        #expect(badges({ _ in }, waiting).contacts == .init(count: 3, isAlarm: false))
        var history = NotificationsState(account: Server.account)
        history.unread = 4
        let notifications = NotificationsClient.preview(history).notifications.value
        let quartet = Quartet.failing { .notConfigured($0) }
        let unread = AppBadges(
            user: quartet.user.user.value, contacts: waiting, notifications: notifications,
            groups: quartet.groups.groups.value, at: Self.now)
        #expect(unread.notifications.count == 4)
    }

    @Test("the console has the same levels, in the same order and with the same looks and titles (S47)")
    func console() throws {
        let file = Products.package.appending(path: "Services/SessionClient/Console/state/lists.js")
        let text = try String(contentsOf: file, encoding: .utf8)
        let english = Texts(languages: ["en"])
        let level = #/(\w+): \{ rank: ([\d.]+), tone: '(\w+)', title: \(\) => t`([^`]+)` \}/#
        let levels = text.matches(of: level).sorted { Double($0.2) ?? 0 < Double($1.2) ?? 0 }
        #expect(levels.map { String($0.1) } == ContactLevel.allCases.map { "\($0)" })
        #expect(levels.map { String($0.3) } == ContactLevel.allCases.map(\.tone.rawValue))
        #expect(levels.map { String($0.4) } == ContactLevel.allCases.map { english.sentence($0) })
        let sort = #/(\w+): \{ title: \(\) => t`([^`]+)`, compare/#
        let sorts = text.matches(of: sort)
        #expect(sorts.map { String($0.1) } == ContactSort.allCases.map(\.rawValue))
        #expect(sorts.map { String($0.2) } == ContactSort.allCases.map { english.sentence($0) })
        #expect(text.contains("Math.min(2 * hour, interval / 4)"))
    }

    @Test("groups and orders have titles in every language (S47)")
    func titles() {
        for texts in [Texts(languages: ["en"]), Texts(languages: ["de"])] {
            let titles =
                ContactLevel.allCases.map { texts.sentence(.level($0) as ContactGroup.Title) }
                + ContactSort.allCases.map { texts.sentence($0) }
            #expect(Set(titles).count == titles.count && titles.allSatisfy { !$0.contains(".") && !$0.isEmpty })
            #expect(texts.sentence(.initial("B") as ContactGroup.Title) == "B")
        }
    }
}
