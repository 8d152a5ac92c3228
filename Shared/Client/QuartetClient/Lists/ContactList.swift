import Foundation
public import QuartetAPI
public import QuartetContactsContract
public import QuartetVocabulary

/// A contact in a list, and how they are at the time for which the list was made.
public struct ListedContact: Hashable, Sendable, Identifiable {
    public let contact: Contact
    /// The one behind the contact; nil while nothing of them has arrived.
    public let person: Person?
    public let level: ContactLevel

    public init(_ contact: Contact, _ person: Person?, at now: Instant) {
        (self.contact, self.person) = (contact, person)
        level = ContactLevel(contact, person, at: now)
    }

    public var id: AccountID { contact.account }

    /// This account's own name for them comes first; nil if none is known.
    public var name: String? {
        [contact.nickname, person?.name, person?.handle].compactMap(\.self).first { !$0.isEmpty }
    }
}

/// Which contacts a list has.
public enum ContactRole: String, CaseIterable, Hashable, Sendable {
    case all
    /// Those whom this account looks after.
    case dependents
    /// Those who look after this account.
    case responders
}

/// How a list of contacts is sorted.
public enum ContactSort: String, CaseIterable, Hashable, Sendable {
    /// By how they are, the worst first.
    case status
    case name
    /// By their next check-in.
    case due
    /// The newest first.
    case added
}

/// Contacts that stand together in a list.
public struct ContactGroup: Hashable, Sendable {
    public enum Title: Hashable, Sendable {
        case level(ContactLevel)
        /// The letter that their names begin with; `#` for digits and signs, which come first.
        case initial(String)
    }

    /// Nil where the sort makes no groups.
    public let title: Title?
    public let contacts: [ListedContact]
}

extension ReadOnlyContactsState {
    /// The contacts as a list shows them, in groups that aren't empty. It is a function of what is known and of the time alone.
    /// - Parameter text: Something in a name or handle. It stays on the device.
    public func grouped(
        _ role: ContactRole = .all, by sort: ContactSort = .status, searching text: String = "", at now: Instant
    ) -> [ContactGroup] {
        let wanted = SortedName.folded(text).trimmingCharacters(in: .whitespaces)
        var found = contacts.filter { contact in
            switch role {
            case .all: true
            case .dependents: contact.iAmResponder
            case .responders: contact.isMyResponder
            }
        }.map { contact in
            let listed = ListedContact(contact, person(by: contact.account), at: now)
            return (listed: listed, name: SortedName(listed.name ?? ""))
        }
        if !wanted.isEmpty {
            found = found.filter { one in
                one.name.folded.contains(wanted) || one.listed.person?.handle?.contains(wanted) == true
            }
        }
        func isBefore(_ left: (ListedContact, SortedName), _ right: (ListedContact, SortedName)) -> Bool {
            (left.1, left.0.id) < (right.1, right.0.id)
        }
        switch sort {
        case .status:
            found.sort { $0.listed.level == $1.listed.level ? isBefore($0, $1) : $0.listed.level < $1.listed.level }
        case .name: found.sort { isBefore($0, $1) }
        case .due:
            found.sort { left, right in
                switch (left.listed.person?.checkIn?.due, right.listed.person?.checkIn?.due) {
                case (let one?, let other?) where one != other: one < other
                case (.some, nil): true
                case (nil, .some): false
                default: isBefore(left, right)
                }
            }
        case .added:
            found.sort {
                let (left, right) = ($0.listed.contact.added, $1.listed.contact.added)
                return left == right ? isBefore($0, $1) : left > right
            }
        }
        var groups: [(title: ContactGroup.Title?, contacts: [ListedContact])] = []
        for one in found {
            let title: ContactGroup.Title? =
                switch sort {
                case .status: .level(one.listed.level)
                case .name: .initial(one.name.initial)
                case .due, .added: nil
                }
            if let last = groups.last, last.title == title {
                groups[groups.count - 1].contacts.append(one.listed)
            } else {
                groups.append((title, [one.listed]))
            }
        }
        return groups.map { ContactGroup(title: $0.title, contacts: $0.contacts) }
    }
}

/// A name in the order of lists, in which neither case nor accents matter, and numbers stand by their size.
private struct SortedName: Comparable {
    let folded: String
    /// The letter under which it stands.
    let initial: String

    init(_ name: String) {
        folded = Self.folded(name)
        let first = folded.first.flatMap { $0.isLetter ? $0 : nil }
        initial = first.map { $0.uppercased() } ?? "#"
    }

    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    static func < (left: Self, right: Self) -> Bool {
        guard (left.initial == "#") == (right.initial == "#") else { return left.initial == "#" }
        return left.folded.compare(right.folded, options: .numeric) == .orderedAscending
    }
}
