import Foundation
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("Hashes of states")
struct StateHashTests {
    private struct Vectors: Decodable {
        struct Value: Decodable {
            let value: JSONValue
            let canonical: String
            let hash: String
        }

        struct Group: Decodable {
            let state: GroupState
            let entities: [JSONValue]
            let hash: String
        }

        let values: [Value]
        let group: Group
    }

    private static func vectors() throws -> Vectors {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/state-hash.json")
        return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: url))
    }

    /// The vectors were made by JavaScript.
    @Test("a value has one canonical form and one hash, here as in JavaScript (T15)")
    func values() throws {
        for vector in try Self.vectors().values {
            #expect(vector.value.canonical == vector.canonical)
            var hash = StateHash()
            hash.add(StateHash.Entity(vector.value))
            #expect(hash.description == vector.hash, "\(vector.canonical)")
        }
    }

    @Test("a group session's hash is the sum over its entities, in whatever order they come and go (T15)")
    func group() throws {
        let group = try Self.vectors().group
        #expect(HashedGroupState(group.state).hash.description == group.hash)
        var hash = StateHash()
        for entity in group.entities.shuffled() + group.entities { hash.add(StateHash.Entity(entity)) }
        for entity in group.entities.shuffled() { hash.remove(StateHash.Entity(entity)) }
        #expect(hash.description == group.hash)
    }
}

@Suite("JSON values")
struct JSONValueTests {
    /// The examples of RFC 7396, appendix A.
    @Test(
        "a merge patch changes what it names, and removes by null",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func merging(target: String, patch: String, result: String) throws {
        func value(_ text: String) throws -> JSONValue {
            try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        }
        #expect(try value(target).merging(value(patch)) == value(result))
    }

    @Test("a value is what it was after writing and reading it, however large its numbers are")
    func roundTrip() throws {
        let value: JSONValue = [
            .null, true, 0, -9_007_199_254_740_992, .number(0.1), .number(1e300), .number(9_007_199_254_740_994), "",
            "é\u{1F600}\"\\\n", [], ["a": .null, "b": [1, "2"]],
        ]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
    }
}
