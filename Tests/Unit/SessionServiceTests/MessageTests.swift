import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: messages")
struct MessageTests {
    @Test("messages are numbered in the group's order, and say who sent them and when (P25 P28)")
    func order() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        var sent: [GroupMessageSent] = []
        for number in 0..<6 {
            gathering.pass(.seconds(Int64(number % 2)))
            let message = SendGroupMessage(group: group, type: "org.example.n", data: ["n": .integer(Int64(number))])
            sent.append(try gathering.ask(people[number % 3], message).first(as: GroupMessageSent.self))
        }
        #expect(sent.map(\.number) == [1, 2, 3, 4, 5, 6] && sent.map(\.account) == people + people)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.at <= $1.at } && sent.last?.at == gathering.time)
        #expect(sent.map { $0.data?["n"] } == (0..<6).map { .integer($0) })
    }

    @Test("a message to some is visible to them and its sender; one to all is visible to everyone (P27)")
    func recipients() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: people)
        let some = try gathering.ask(
            people[0], SendGroupMessage(group: group, to: [people[2], people[1]], type: "x", data: "secret")
        ).first(as: GroupMessageSent.self)
        #expect(people.map(some.isVisible) == [true, true, true, false])
        let all = try gathering.ask(people[0], SendGroupMessage(group: group, type: "x"))
            .first(as: GroupMessageSent.self)
        #expect(people.map(all.isVisible) == [true, true, true, true])
        // The body of what the others get has nothing of it.
        #expect(try MessageWithheld().encoded() == Array("{}".utf8))
    }

    @Test("only participants send, to participants, while the session goes on (P27)")
    func refusals() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: Array(people.prefix(2)))
        let stranger = people[3]
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[2]]))
        let message = SendGroupMessage(group: group, type: "x")
        #expect(try gathering.rejection(stranger, message) == .groupNotFound)
        #expect(try gathering.rejection(people[2], message) == .notParticipant)
        #expect(try gathering.rejection(nil, message) == .accountRequired)
        for absent in [stranger, people[2]] {
            let refusal = try gathering.refusal(
                people[0], SendGroupMessage(group: group, to: [people[1], absent], type: "x"))
            #expect(refusal?.code == .participantNotFound && refusal?.field == "to")
        }
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        #expect(try gathering.rejection(people[1], message) == .notParticipant)
        #expect(
            try gathering.rejection(people[0], SendGroupMessage(group: group, to: [people[1]], type: "x"))
                == .participantNotFound)
        try gathering.ask(people[0], message)
        try gathering.ask(people[0], EndGroupSession(group: group))
        #expect(try gathering.rejection(people[0], message) == .groupEnded)
        #expect(gathering.rows.groups.messageHistories[group]?.isOver == true)
    }

    @Test("a refused message is told which field breaks which rule; the largest one fits its row (P24)")
    func validation() throws {
        var gathering = Gathering()
        let people = try gathering.people(100)
        let group = try gathering.group(of: people, capacity: 100)
        let largest = JSONValue.string(String(repeating: "x", count: MessageRules.dataLimit - 2))
        try gathering.ask(
            people[0],
            SendGroupMessage(group: group, to: people, type: String(repeating: "t", count: 64), data: largest))
        func refused(_ to: [AccountID]?, _ type: String, _ data: JSONValue?) -> String? {
            do throws(Rejection) {
                try SendGroupMessage(group: group, to: to, type: type, data: data).validate()
                return nil
            } catch { return "\(error.code.rawValue) \(error.field ?? "")" }
        }
        #expect(refused(people, "x", largest) == nil)
        #expect(refused(nil, "x", .array([largest])) == "messageTooLarge data")
        #expect(refused([], "x", nil) == "invalidField to")
        #expect(refused([people[1], people[1]], "x", nil) == "invalidField to")
        #expect(refused((0..<101).map { _ in .new() }, "x", nil) == "invalidField to")
        for type in ["", " ", ".x", "a b", "é", String(repeating: "t", count: 65)] {
            #expect(refused(nil, type, nil) == "invalidField type")
        }
    }

    @Test(
        "the seven kinds are checked; a type that nobody knows is delivered as it is (P24)",
        arguments: [
            ("text", ["text": "Hello\nyou", "replyTo": 3], ["text": ""], "data.text"),
            ("reaction", ["emoji": "🎉", "message": 3], ["emoji": 1], "data.emoji"),
            ("ready", ["isReady": true], [:], "data.isReady"),
            ("action", ["name": "roll", "parameters": ["dice": 2]], ["name": ""], "data.name"),
            ("score", ["points": .number(2.5)], ["points": "2"], "data.points"),
            ("typing", ["isTyping": false, "later": 1], ["isTyping": .null], "data.isTyping"),
            ("cursor", ["x": .number(0.25), "y": 1], ["x": 0, "y": .number(1.5)], "data.y"),
        ] as [(String, JSONValue, JSONValue, String)])
    func kinds(_ type: String, _ good: JSONValue, _ bad: JSONValue, _ field: String) throws {
        let content = try MessageContent(type: type, data: good)
        if case .custom = content { Issue.record("\(type) is known") }
        func refusal(_ data: JSONValue?) -> Rejection? {
            do throws(Rejection) {
                try SendGroupMessage(group: .blank, type: type, data: data).validate()
                return nil
            } catch { return error }
        }
        #expect(refusal(good) == nil)
        #expect(refusal(bad)?.code == .invalidField && refusal(bad)?.field == field)
        #expect(refusal(nil) != nil && refusal("text") != nil)
        let unknown = try MessageContent(type: "org.example.\(type)", data: bad)
        #expect(unknown == .custom(type: "org.example.\(type)", data: bad))
    }

    @Test("a session keeps so many messages, and so many bytes of them; then the oldest go (P25)")
    func window() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        (gathering.rows.limits.messages, gathering.rows.limits.messageBytes) = (4, 1000)
        func send(_ bytes: Int) throws -> [Int64] {
            let data = JSONValue.string(String(repeating: "x", count: bytes - 3))
            try gathering.ask(people[0], SendGroupMessage(group: group, type: "x", data: data))
            let kept = gathering.rows.groups.messages.keys.map(\.number).sorted()
            #expect(gathering.rows.groups.messageHistories[group]?.firstKept == kept.first)
            return kept
        }
        #expect(try (1...4).map { _ in try send(10) }.last == [1, 2, 3, 4])
        #expect(try send(10) == [2, 3, 4, 5])
        // It takes the room of two: 30 bytes of 3 to 5 and 980 are too many.
        #expect(try send(980) == [4, 5, 6])
        #expect(try send(20) == [6, 7])
        #expect(try send(1000) == [8])
    }

    @Test("messages are no part of the session's state, nor of its hash (P29 T15)")
    func state() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let before = try gathering.state(group)
        let event = try gathering.ask(people[0], SendGroupMessage(group: group, type: "x"))
        #expect(try gathering.state(group) == before)
        var hashed = HashedGroupState(before)
        for event in event { hashed.apply(event) }
        #expect(hashed == HashedGroupState(before))
    }
}
