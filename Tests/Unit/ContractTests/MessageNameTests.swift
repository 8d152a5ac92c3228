import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Testing

/// A command asks for something and may be refused; an event has happened. Their names say which of both they are.
@Suite("The names of messages")
struct MessageNameTests {
    /// What commands may begin with. A new one must be a verb that asks.
    private static let verbs: Set = [
        "Accept", "Acknowledge", "Activate", "Add", "Adopt", "Announce", "Answer", "Approve", "Ask", "Begin", "Block",
        "Cancel", "Change", "Check", "Claim", "Clear", "Close", "Complete", "Confirm", "Connect", "Create", "Decide",
        "Declare", "Decline", "Deliver", "Disconnect", "Drop", "End", "Expire", "Extend", "Finish", "Forget", "Free",
        "Hold", "Join", "Judge", "Lapse", "Leave", "Make", "Mark", "Miss", "Move", "Open", "Pause", "Play", "Raise",
        "Record", "Refresh", "Register", "Relay", "Release", "Remind", "Remove", "Rename", "Renew", "Repeat",
        "Request", "Reset", "Respond", "Restore", "Resume", "Run", "Schedule", "Send", "Set", "Settle", "Show", "Sign",
        "Start", "Transfer", "Unblock", "Undo", "Unregister", "Update", "Withdraw",
    ]

    /// What has happened, besides what ends with "ed".
    private static let pasts: Set = [
        "Began", "Forgotten", "Left", "Made", "Read", "Reset", "Sent", "Set", "Shown", "Taken", "Undone", "Withdrawn",
    ]

    /// Names that were published before there was this test. Logs keep them and apps send them, so they stay.
    private static let exceptions: Set = ["AlarmClosingDue", "NextItem", "QueueInsert", "QueueMove", "QueueRemove"]

    private static func words(_ name: String) -> [String] {
        name.reduce(into: []) { words, letter in
            if letter.isUppercase || words.isEmpty { words.append("") }
            words[words.count - 1].append(letter)
        }
    }

    private static func isImperative(_ name: String) -> Bool {
        words(name).first.map { verbs.contains($0) } ?? false
    }

    /// "SetAvatar" asks, and "AvatarSet" has happened: a verb that looks the same in both is past behind its object alone.
    private static func isPast(_ name: String) -> Bool {
        words(name).enumerated().contains { index, word in
            word.hasSuffix("ed") && word.count > 3 || index > 0 && pasts.contains(word)
        }
    }

    @Test(
        "names that say the wrong thing are told apart",
        arguments: [
            ("SendPing", true, false), ("PingSent", false, true), ("SetAvatar", true, false),
            ("AvatarSet", false, true), ("CheckedIn", false, true), ("CheckIn", true, false),
            ("PingSend", false, false), ("ContactAdding", false, false), ("AddedContact", false, true),
            ("MarkAllRead", true, true), ("Read", false, false),
        ])
    func forms(name: String, isImperative: Bool, isPast: Bool) {
        #expect(Self.isImperative(name) == isImperative)
        #expect(Self.isPast(name) == isPast)
    }

    @Test("every command and every operation is called by what it asks for (R2)")
    func commands() {
        let types =
            SessionCommand.types + ContactsCommand.types + NotificationsCommand.types + AnySaga.types
        let names = types.map { $0.type }
        #expect(names.count > 140)
        #expect(names.filter { !Self.isImperative($0) && !Self.exceptions.contains($0) } == [])
    }

    @Test("every event is called by what has happened (R2)")
    func events() {
        let types = SessionEvent.types + ContactsEvent.types + NotificationsEvent.types
        let names = types.map { $0.type }
        #expect(names.count > 120)
        #expect(names.filter { !Self.isPast($0) && !Self.exceptions.contains($0) } == [])
    }

    @Test("no exception is left that no message needs")
    func exceptions() {
        let commands = SessionCommand.types + ContactsCommand.types + NotificationsCommand.types
        let events = SessionEvent.types + ContactsEvent.types + NotificationsEvent.types
        let wrong =
            commands.map { $0.type }.filter { !Self.isImperative($0) }
            + events.map { $0.type }.filter { !Self.isPast($0) }
        #expect(Set(wrong) == Self.exceptions)
    }
}
