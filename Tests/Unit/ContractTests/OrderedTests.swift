import Foundation
import QuartetContractSupport
import Synchronization
import Testing

@Suite("A list in the order of its ids")
struct OrderedTests {
    private struct Item: Codable, Hashable, Sendable, Identifiable {
        let id: String
        var word = ""
    }

    private static let letters = "abcdefghijklmnopqrst".map(String.init)

    @Test("after any changes it has each id once, in their order, with the newest element (R3)")
    func changes() {
        for _ in 0..<50 {
            var list: Ordered<Item> = []
            var model: [String: Item] = [:]
            var history: [String] = []
            for step in 0..<100 {
                let id = Self.letters[Int.random(in: Self.letters.indices)]
                let item = Bool.random() ? Item(id: id, word: "\(step)") : nil
                history.append("\(id): \(item?.word ?? "removed")")
                list[id] = item
                model[id] = item
                #expect(Array(list) == model.values.sorted { $0.id < $1.id }, "\(history)")
                #expect(Self.letters.allSatisfy { list[$0] == model[$0] }, "\(history)")
            }
            #expect(list.count == model.count && list.indices == 0..<model.count)
        }
    }

    @Test("lists with the same elements are equal, and have the same hash and encoding, however they came about (R3)")
    func histories() throws {
        let items = Self.letters.map { Item(id: $0, word: "the letter \($0)") }
        let straight = Ordered(items)
        var detour: Ordered<Item> = [Item(id: "e", word: "old"), Item(id: "z")]
        for item in items.reversed() { detour[item.id] = item }
        detour["z"] = nil
        #expect(straight == detour && straight.hashValue == detour.hashValue)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try encoder.encode(straight) == encoder.encode(Array(detour)))
    }

    @Test("an element is changed in its place, and what isn't there is neither found nor missed (R3)")
    func places() {
        var list = Ordered([Item(id: "c"), Item(id: "a"), Item(id: "b")])
        list["b"]?.word = "two"
        #expect(list.map(\.id) == ["a", "b", "c"] && list["b"] == Item(id: "b", word: "two"))
        list["g"]?.word = "seven"
        list["g"] = nil
        #expect(list.map(\.id) == ["a", "b", "c"] && list["g"] == nil && list["0"] == nil)
        list["b"] = nil
        #expect(list.map(\.id) == ["a", "c"] && list.first?.id == "a" && list.last?.id == "c")
    }

    @Test("it reads an array in any order; of several elements with one id the last one counts (R3)")
    func decoding() throws {
        let json = #"[{"id":"b","word":"old"},{"id":"a","word":"1"},{"id":"b","word":"2"}]"#
        let list = try JSONDecoder().decode(Ordered<Item>.self, from: Data(json.utf8))
        #expect(Array(list) == [Item(id: "a", word: "1"), Item(id: "b", word: "2")])
        #expect(try JSONDecoder().decode(Ordered<Item>.self, from: JSONEncoder().encode(list)) == list)
    }

    @Test("among a thousand elements one is found by a few comparisons (R3)")
    func search() {
        let list = Ordered((0..<1000).map { Counted(id: .init(number: $0)) })
        for number in [0, 1, 499, 998, 999, 1000] {
            Counted.ID.comparisons.withLock { $0 = 0 }
            let found = list[Counted.ID(number: number)]
            #expect((found != nil) == (number < 1000))
            #expect(Counted.ID.comparisons.withLock { $0 } <= 11)
        }
    }

    /// Counts how often ids are compared.
    private struct Counted: Hashable, Sendable, Identifiable {
        struct ID: Hashable, Comparable, Sendable {
            static let comparisons = Mutex(0)
            let number: Int

            static func < (left: Self, right: Self) -> Bool {
                comparisons.withLock { $0 += 1 }
                return left.number < right.number
            }
        }

        let id: ID
    }
}
