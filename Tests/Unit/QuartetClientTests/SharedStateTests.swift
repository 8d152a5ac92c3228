import Observation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetVocabulary
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct SharedStateTests {
    private static func preview(_ count: UInt64) -> ContactsClient {
        let contacts = (0..<count).map { Contact(Server.person($0), nickname: "\($0)") }
        return .preview(ContactsState(account: Server.account, contacts: Ordered(contacts)))
    }

    /// Counts how often what `read` reads has changed, since it was last read.
    private static func observe(_ read: @escaping @Sendable () -> Void, _ count: Observed<Int>) {
        withObservationTracking(read) { count.update { $0 += 1 } }
    }

    @Test(
        "a reader of one thing isn't called for another: of ten thousand contacts one changes, and one row is called (P34, M5, R19)"
    )
    func rows() async throws {
        let client = Self.preview(10_000)
        let contacts = client.contacts
        let (changed, rest, list, pings, phase) = (Observed(0), Observed(0), Observed(0), Observed(0), Observed(0))
        for number in 0..<10_000 as Range<UInt64> {
            Self.observe({ _ = contacts.contact(by: Server.person(number)) }, number == 17 ? changed : rest)
        }
        Self.observe({ _ = contacts.ids }, list)
        Self.observe({ _ = contacts.incomingPings }, pings)
        Self.observe({ _ = contacts.phase }, phase)
        var fields = ContactFields(try #require(contacts.contact(by: Server.person(17))))
        let base = fields
        fields.nickname = "Mum"
        try await client.update(Server.person(17), Edit(base: base, edit: fields))
        #expect(contacts.contact(by: Server.person(17))?.nickname == "Mum")
        #expect(changed.value == 1 && rest.value == 0 && list.value == 0 && pings.value == 0 && phase.value == 0)
        try await client.remove(Server.person(17))
        #expect(list.value == 1 && rest.value == 0)
    }

    @Test("a sequence begins with the value now, and repeats none (T9, S19)")
    func values() async throws {
        let client = Self.preview(2)
        var ids = client.contacts.values(of: \.ids).makeAsyncIterator()
        #expect(await ids.next(isolation: #isolation)?.count == 2)
        try await client.setApproval(true)
        try await client.remove(Server.person(0))
        #expect(await ids.next(isolation: #isolation) == [Server.person(1)])
        var all = client.contacts.values.makeAsyncIterator()
        #expect(await all.next(isolation: #isolation)?.isApprovalRequired == true)
    }

    @Test("observers may read, write and make clients: no lock is held when they are called (S1)")
    func reentrancy() async throws {
        let client = Self.preview(1)
        let called = Observed(0)
        withObservationTracking {
            _ = client.contacts.isApprovalRequired
        } onChange: {
            _ = Self.preview(3).contacts.ids
            _ = client.contacts.value
            called.update { $0 += 1 }
        }
        try await client.setApproval(true)
        #expect(called.value == 1)
    }

    /// A copy of it that is changed while somebody else holds it is another page.
    private struct Book: Hashable, Sendable {
        private final class Page: Sendable {
            let number: Int

            init(_ number: Int) { self.number = number }
        }

        private var page = Page(0)
        var number = 0
        /// How often it was copied.
        var copies = 0

        mutating func turn() {
            if !isKnownUniquelyReferenced(&page) {
                page = Page(number)
                copies += 1
            }
            number += 1
        }

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    @Test("what arrives together is copied once for the readers of what was before, and shown once (P34, R19)")
    func together() {
        let holder = ReplicaHolder<Book, Book> { $0 ?? Book() }
        holder.change { $0.replace(Book(), opening: 1) }
        let calls = Observed(0)
        let kept = holder.shared.value
        @Sendable func observe() {
            withObservationTracking {
                _ = holder.shared.value
            } onChange: {
                calls.update { $0 += 1 }
                observe()
            }
        }
        observe()
        let turn = StreamChange<Book> { $0.apply(causedBy: nil) { $0.turn() } }
        holder.receive(Array(repeating: turn, count: 100), from: 1)
        #expect(holder.shared.value.number == 100 && holder.shared.value.copies == 1 && kept.number == 0)
        #expect(calls.value == 1)
        holder.reset(opening: 1)
        holder.receive([turn], from: 1)
        #expect(holder.shared.value.number == 0)
    }

    @Test("writers and readers on eight threads: no value goes back, and all see the last (S19)")
    func threads() async throws {
        let shared = SharedState(0, .ready)
        let last = Observed(0)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        // As a replica's lock does it: the order of what is shown is the order of what changed.
                        let notify = last.update { last in
                            last += 1
                            return shared.replace(last, .ready)
                        }
                        notify()
                    }
                }
                group.addTask {
                    var previous = -1
                    for await value in shared.values {
                        try #require(value > previous)
                        previous = value
                        if value == 2000 { break }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
