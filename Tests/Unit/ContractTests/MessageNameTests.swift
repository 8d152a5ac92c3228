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
        "Request", "Reset", "Respond", "Restore", "Resume", "Review", "Run", "Schedule", "Send", "Set", "Settle",
        "Show", "Sign",
        "Start", "Transfer", "Unblock", "Undo", "Unregister", "Update", "Withdraw",
    ]

    /// They may end with what has happened: that is what they ask to note.
    private static let notes: Set = ["Mark", "Record"]

    /// What has happened, besides what ends with "ed".
    private static let pasts: Set = [
        "Began", "Forgotten", "Left", "Made", "Read", "Reset", "Sent", "Set", "Shown", "Taken", "Undone", "Withdrawn",
    ]

    /// No verbs, though they end with "ed".
    private static let nouns: Set = ["Feed", "Need", "Seed", "Speed"]

    /// What may stand behind a verb, as in "DeviceSignedOut".
    private static let particles: Set = ["Again", "In", "Out"]

    /// Names that were published before there was this test. Logs keep them and apps send them, so they stay.
    private static let exceptions: Set = ["AlarmClosingDue", "NextItem", "QueueInsert", "QueueMove", "QueueRemove"]

    private static func words(_ name: String) -> [String] {
        name.reduce(into: []) { words, letter in
            if letter.isUppercase || words.isEmpty { words.append("") }
            words[words.count - 1].append(letter)
        }
    }

    private static func isImperative(_ name: String) -> Bool {
        guard let first = words(name).first, verbs.contains(first) else { return false }
        return notes.contains(first) || !isPast(name)
    }

    /// "SetAvatar" asks, and "AvatarSet" has happened: a verb that looks the same in both is past behind its object alone.
    private static func isPast(_ name: String) -> Bool {
        var words = words(name)
        while let last = words.last, particles.contains(last) { words.removeLast() }
        guard let last = words.last else { return false }
        return last.hasSuffix("ed") && last.count > 3 && !nouns.contains(last)
            || words.count > 1 && pasts.contains(last)
    }

    @Test(
        "names that say the wrong thing are told apart",
        arguments: [
            ("SendPing", true, false), ("PingSent", false, true), ("SetAvatar", true, false),
            ("AvatarSet", false, true), ("CheckedIn", false, true), ("CheckIn", true, false),
            ("PingSend", false, false), ("ContactAdding", false, false), ("AddedContact", false, false),
            ("MarkAllRead", true, true), ("Read", false, false), ("RequestSent", false, true),
            ("HoldEnded", false, true), ("SignInFailed", false, true), ("AddBlockedContact", true, false),
            ("DeviceSignedOut", false, true), ("ContactNeed", false, false), ("RecordPushTaken", true, true),
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
