import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: the shared queue")
struct QueueTests {
    /// A session that plays `now`, with a queue of songs that are called by letters.
    private func queue(
        _ gathering: inout Gathering, _ titles: String, of people: [AccountID]
    ) throws -> (group: GroupID, items: [String: PlaybackItem]) {
        let now = gathering.song("now")
        let group = try gathering.playing(now, of: people)
        let songs = titles.map { gathering.song("\($0)") }
        try gathering.ask(people[0], QueueInsert(group: group, items: songs))
        return (group, Dictionary(uniqueKeysWithValues: ([now] + songs).map { ($0.title, $0) }))
    }

    @Test(
        "items come behind the one in front, else before the one behind, else at the end; those that are there aren't added again (M10)"
    )
    func insert() throws {
        var gathering = Gathering()
        let people = try gathering.people(1)
        let (group, items) = try queue(&gathering, "abc", of: people)
        func id(_ title: String) -> PlaybackItemID { items[title]?.id ?? .new() }
        let places: [(PlaybackItemID?, PlaybackItemID?, String)] = [
            (id("a"), id("c"), "a0bc"), (id("now"), nil, "1a0bc"), (nil, id("b"), "1a02bc"),
            (.new(), id("c"), "1a02b3c"),
            (.new(), .new(), "1a02b3c4"), (nil, nil, "1a02b3c45"), (nil, id("now"), "61a02b3c45"),
        ]
        for (number, place) in places.enumerated() {
            let song = gathering.song("\(number)")
            try gathering.ask(people[0], QueueInsert(group: group, items: [song], after: place.0, before: place.1))
            #expect(try gathering.queue(group).joined() == place.2)
            #expect(try gathering.ask(people[0], QueueInsert(group: group, items: [song])).isEmpty)
        }
        let now = try #require(items["now"])
        #expect(try gathering.ask(people[0], QueueInsert(group: group, items: [now])).isEmpty)
        let (x, y) = (gathering.song("x"), gathering.song("y"))
        try gathering.ask(
            people[0], QueueInsert(group: group, items: [x, try #require(items["a"]), y], after: id("b")))
        #expect(try gathering.queue(group).joined() == "61a02bxy3c45")
    }

    @Test("a queue has a limit, which is said before it is passed (M10)")
    func limit() throws {
        var gathering = Gathering()
        let people = try gathering.people(1)
        let group = try gathering.group(of: people)
        for _ in 0..<4 {
            try gathering.ask(people[0], QueueInsert(group: group, items: (0..<25).map { _ in gathering.song() }))
        }
        let refusal = try gathering.refusal(people[0], QueueInsert(group: group, items: [gathering.song()]))
        #expect(refusal?.code == .limitReached && refusal?.details == ["queued": 100] && refusal?.field == "items")
    }

    @Test("items are moved and removed; one that is gone can't be moved, and is removed (M10)")
    func moveAndRemove() throws {
        var gathering = Gathering()
        let people = try gathering.people(1)
        let (group, items) = try queue(&gathering, "abcd", of: people)
        func id(_ title: String) -> PlaybackItemID { items[title]?.id ?? .new() }
        for (item, after, before, result) in [
            ("a", nil, nil, "bcda"), ("d", "now", nil, "dbca"), ("b", "c", nil, "dcba"), ("a", nil, "c", "dacb"),
        ] {
            try gathering.ask(
                people[0], QueueMove(group: group, item: id(item), after: after.map(id), before: before.map(id)))
            #expect(try gathering.queue(group).joined() == result)
        }
        #expect(try gathering.ask(people[0], QueueMove(group: group, item: id("b"))).isEmpty)
        #expect(try gathering.ask(people[0], QueueMove(group: group, item: id("a"), after: id("d"))).isEmpty)
        let removed = try gathering.ask(
            people[0], QueueRemove(group: group, items: [id("a"), .new(), id("c")])
        ).first(as: QueueItemsRemoved.self)
        #expect(removed.items == [id("a"), id("c")])
        #expect(try gathering.ask(people[0], QueueRemove(group: group, items: [id("a")])).isEmpty)
        #expect(try gathering.rejection(people[0], QueueMove(group: group, item: id("a"))) == .itemNotFound)
        // What is played at once leaves the queue.
        let b = try #require(items["b"])
        try gathering.ask(people[0], PlayItem(group: group, expectedItem: id("now"), item: b))
        #expect(try gathering.queue(group).joined() == "d")
    }

    @Test(
        "whatever order concurrent edits are decided in, none excludes another: the same items are there, and what nobody touched is in order (M10)"
    )
    func concurrent() async throws {
        try await withRandom { random in
            for _ in 0..<30 {
                var beginning = Gathering(seed: random.next())
                let people = try beginning.people(4)
                let (group, items) = try queue(&beginning, "abcdefgh", of: people)
                let letters = Array("abcdefgh").map(String.init).shuffled(using: &random)
                func id(_ index: Int) -> PlaybackItemID { items[letters[index]]?.id ?? .new() }
                // Everybody saw the same queue. Neighbours may be what somebody else moves or removes.
                let edits: [any CommandBody] = [
                    QueueInsert(group: group, items: [beginning.song("x")], after: id(0), before: id(3)),
                    QueueInsert(group: group, items: [beginning.song("y")], before: id(1)),
                    QueueMove(group: group, item: id(0), after: id(1), before: id(2)),
                    QueueRemove(group: group, items: [id(1)]),
                ]
                let untouched = letters.dropFirst(2).sorted()
                for order in permutations(of: Array(edits.indices)) {
                    var gathering = beginning
                    for index in order { try gathering.ask(people[index], edits[index]) }
                    let queue = try gathering.queue(group)
                    try #require(queue.sorted() == (untouched + [letters[0], "x", "y"]).sorted())
                    try #require(queue.filter { untouched.contains($0) } == untouched)
                }
            }
        }
    }

    private func permutations(of elements: [Int]) -> [[Int]] {
        guard !elements.isEmpty else { return [[]] }
        return elements.flatMap { first in
            permutations(of: elements.filter { $0 != first }).map { [first] + $0 }
        }
    }
}
