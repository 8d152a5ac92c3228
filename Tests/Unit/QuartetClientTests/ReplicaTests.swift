import QuartetAPI
import QuartetVocabulary
import TestKit
import Testing

@testable import QuartetClient

@Suite
struct ReplicaTests {
    private static func reply(_ command: CommandID, event: String? = "Changed") -> CommandReply {
        CommandReply(command: command, event: event, result: event.map { _ in [] })
    }

    @Test(
        "an edit shows at once, and never gives way to the old value, whether its event or its outcome comes first (S20, S21)",
        arguments: [false, true])
    func reconciliation(eventFirst: Bool) {
        var replica = Replica<String>()
        replica.replace("A", opening: 1)
        let command = CommandID.new()
        replica.begin(1) { $0 = "B" }
        var seen = [replica.state]
        func event() {
            replica.apply(causedBy: command) { $0 = "B" }
            seen.append(replica.state)
        }
        if eventFirst { event() }
        replica.accept(1, Self.reply(command))
        seen.append(replica.state)
        if !eventFirst { event() }
        #expect(seen == ["B", "B", "B"] && replica.openEdits.isEmpty)
        replica.apply(causedBy: .new()) { $0 = "C" }
        #expect(replica.state == "C")
    }

    @Test("an edit of another process that is known late shows in its order, and later ones stay on top (S20, R11)")
    func knownLate() {
        var replica = Replica<[Int]>()
        replica.replace([], opening: 1)
        for id in [1, 3, 2] as [Int64] { replica.begin(id) { $0.append(Int(id)) } }
        #expect(replica.state == [1, 2, 3] && replica.state(before: 3) == [1, 2])
    }

    @Test("what is accepted while a stream is asked for stays until its event comes: the snapshot may be older (S21)")
    func olderSnapshot() {
        var replica = Replica<Int>()
        replica.restore(30)
        replica.begins(1)
        let command = CommandID.new()
        replica.begin(1) { $0 = 31 }
        replica.accept(1, Self.reply(command))
        replica.replace(30, opening: 1)
        #expect(replica.state == 31)
        replica.apply(causedBy: command) { $0 = 31 }
        #expect(replica.state == 31 && replica.openEdits.isEmpty)
    }

    @Test(
        "an accepted edit that a snapshot had covers no later one of the same person: events come in the order of edits (S21)",
        arguments: [false, true])
    func coveredEdits(eventFirst: Bool) {
        var replica = Replica<Int>()
        replica.begins(1)
        let (first, second) = (CommandID.new(), CommandID.new())
        for (id, number) in [(Int64(1), 1), (2, 2)] { replica.begin(id) { $0 = number } }
        replica.accept(1, Self.reply(first))
        // It has the first change, whose event doesn't come any more.
        replica.replace(1, opening: 1)
        #expect(replica.state == 2)
        if eventFirst { replica.apply(causedBy: second) { $0 = 2 } }
        replica.accept(2, Self.reply(second))
        if !eventFirst { replica.apply(causedBy: second) { $0 = 2 } }
        #expect(replica.state == 2 && replica.openEdits.isEmpty)
    }

    @Test(
        "what is accepted without an event stays until the server's state has it, or for two heartbeats (S22)",
        arguments: [false, true])
    func withoutEvent(arrives: Bool) {
        var replica = Replica<Set<Int>>()
        replica.replace([], opening: 1)
        replica.begin(1, { $0.insert(7) }, until: { $0.contains(7) })
        replica.accept(1, Self.reply(.new(), event: nil))
        replica.heartbeat()
        replica.apply(causedBy: nil) { $0.insert(8) }
        #expect(replica.state == [7, 8] && replica.openEdits == [1])
        if arrives { replica.apply(causedBy: nil) { $0.insert(7) } } else { replica.heartbeat() }
        #expect(replica.state == (arrives ? [7, 8] : [8]) && replica.openEdits.isEmpty)
    }

    @Test("a refused edit goes, and later ones stay (S24)")
    func refusal() {
        var replica = Replica<[String]>()
        replica.replace([], opening: 1)
        replica.begin(1) { $0.append("first") }
        replica.begin(2) { $0.append("second") }
        #expect(replica.state == ["first", "second"])
        replica.drop(1)
        #expect(replica.state == ["second"])
    }

    @Test("a command that changed nothing takes its edit away at once (S21)")
    func nothingChanged() {
        var replica = Replica<String>()
        replica.replace("A", opening: 1)
        replica.begin(1) { $0 = "B" }
        replica.accept(1, Self.reply(.new(), event: nil))
        #expect(replica.state == "A" && replica.openEdits.isEmpty)
    }

    @Test(
        "an accepted edit whose event is part of a snapshot goes with it, and at the latest when the stream is quiet (S21)"
    )
    func snapshots() {
        var replica = Replica<String>()
        replica.replace("A", opening: 1)
        replica.begin(1) { $0 = "B" }
        replica.accept(1, Self.reply(.new()))
        // Of the stream that was open already: it may have been read before the command was decided.
        replica.replace("A", opening: 1)
        #expect(replica.state == "B")
        replica.replace("C", opening: 2)
        #expect(replica.state == "C" && replica.openEdits.isEmpty)

        replica.begin(2) { $0 = "D" }
        replica.accept(2, Self.reply(.new()))
        replica.heartbeat()
        #expect(replica.state == "D")
        replica.heartbeat()
        #expect(replica.state == "C")
    }

    @Test(
        "in a sequence that was resumed, an edit stays until its event comes, however many heartbeats that takes (S20)")
    func resumed() {
        var replica = Replica<String>()
        replica.restore("A")
        replica.resume(opening: 1)
        let command = CommandID.new()
        replica.begin(1) { $0 = "B" }
        replica.accept(1, Self.reply(command))
        for _ in 0..<5 { replica.heartbeat() }
        #expect(replica.state == "B")
        replica.apply(causedBy: command) { $0 = "B" }
        #expect(replica.base == "B" && replica.openEdits.isEmpty)
    }

    @Test("a reply whose event came before the app was killed ends its edit at once, and no other one's (S20, S22)")
    func restored() {
        let (known, other) = (CommandID.new(), CommandID.new())
        var first = Replica<String>()
        first.replace("A", opening: 1)
        first.apply(causedBy: known) { $0 = "B" }
        var replica = Replica<String>()
        replica.restore("B", with: first.seen)
        replica.begin(1) { $0 += "!" }
        replica.begin(2, inOrder: "other") { $0 += "?" }
        replica.resume(opening: 1)
        replica.accept(1, Self.reply(known))
        replica.accept(2, Self.reply(other))
        #expect(replica.state == "B?" && replica.openEdits == [2])
        // The event of the second one will never come, and a snapshot has to show what became of it.
        #expect((0..<10).map { _ in replica.heartbeat() }.filter(\.self).count == 1)
        replica.replace("C", opening: 2)
        #expect(replica.state == "C" && replica.openEdits.isEmpty)
    }

    @Test(
        "whatever the order of events and outcomes: each value is seen once and none comes back, and in the end it is the server's (S21)"
    )
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(300, long: 5000) {
                var replica = Replica<Int>()
                replica.replace(0, opening: 1)
                let count = Int.random(in: 1...5, using: &random)
                // Commands one after the other; the events of all of them come in their order, whenever.
                var (events, seen): ([(CommandID, Int)], [Int]) = ([], [0])
                var pending: (edit: Int64, command: CommandID)?
                var next = 1
                while next <= count || pending != nil || !events.isEmpty {
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0 where pending == nil && next <= count:
                        let value = next
                        let (edit, command) = (Int64(value), CommandID.new())
                        replica.begin(edit) { $0 = value }
                        pending = (edit, command)
                        events.append((command, value))
                        next += 1
                    case 1:
                        guard let (edit, command) = pending else { continue }
                        replica.accept(edit, Self.reply(command))
                        pending = nil
                    case 2 where !events.isEmpty:
                        let (command, value) = events.removeFirst()
                        replica.apply(causedBy: command) { $0 = value }
                    default: continue
                    }
                    let state = try #require(replica.state)
                    if seen.last != state { seen.append(state) }
                }
                try #require(seen == Array(0...count))
                try #require(replica.state == count && replica.base == count && replica.openEdits.isEmpty)
            }
        }
    }
}

@Suite
struct DraftTests {
    private static let base = ProfileFields(name: "Anna", emergencyNote: "none")

    @Test("fields that a person didn't touch follow the server, the others stay as typed (S20)")
    func rebase() {
        var draft = Draft(Self.base)
        draft.value.name = "Annabel"
        draft.rebase(onto: ProfileFields(name: "Anna", emergencyNote: "allergic"))
        #expect(draft.value == ProfileFields(name: "Annabel", emergencyNote: "allergic"))
        #expect(draft.conflicts == [] && draft.hasUnsavedChanges)
        draft.rebase(onto: ProfileFields(name: "Ann", emergencyNote: "allergic"))
        #expect(draft.value.name == "Annabel" && draft.conflicts == ["name"])
    }

    @Test("what was typed is kept when saving fails, and what is typed meanwhile stays unsaved (S20)")
    func saving() {
        var draft = Draft(Self.base)
        draft.value.name = "Annabel"
        let edit = draft.beginSaving()
        #expect(edit == Edit(base: Self.base, edit: ProfileFields(name: "Annabel", emergencyNote: "none")))
        #expect(draft.isSaving)
        draft.endSaving(with: .failure(.offline))
        #expect(draft.error == .offline && draft.value.name == "Annabel" && draft.hasUnsavedChanges && !draft.isSaving)
        _ = draft.beginSaving()
        draft.value.emergencyNote = "typed meanwhile"
        draft.endSaving(with: .success(()))
        #expect(draft.error == nil && draft.hasUnsavedChanges && draft.base.name == "Annabel")
        draft.discard()
        #expect(draft.value.emergencyNote == "none" && !draft.hasUnsavedChanges)
    }
}
