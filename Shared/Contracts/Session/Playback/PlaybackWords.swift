import Foundation
import QuartetContractSupport
public import QuartetVocabulary

/// Limits of shared playback.
public enum PlaybackRules {
    /// The largest item, in bytes of JSON.
    public static let itemLimit = 2048
    /// The most items in a queue.
    public static let queueLimit = 100
    /// How many items one command may insert.
    public static let insertions = 1...25
    /// How many items one command may remove.
    public static let removals = 1...100
    public static let positions: ClosedRange<Interval> = .seconds(0)...(.days(30))
    public static let durations: ClosedRange<Interval> = Interval(microseconds: 1)...(.days(30))
    /// How long after a command what it starts may begin to move.
    public static let leads: ClosedRange<Interval> = .seconds(0)...(.seconds(10))
    /// How long, unless the asker says otherwise: time to hear of it everywhere.
    public static let defaultLead = Interval(microseconds: 300_000)
    /// How long a suspension may last, with all its extensions.
    public static let suspensions: ClosedRange<Interval> = .seconds(1)...(.seconds(30))
    /// How long a suspension lasts unless its owner says otherwise.
    public static let defaultSuspension: Interval = .seconds(10)
    /// With how many people in it a group may wait.
    public static let participantLimits = 1...100
    static let title = TextRule(1...200)
    static let content = TextRule(1...256)

    static func check(position: Interval?, field: String = "position") throws(Rejection) {
        if let position, !positions.contains(position) {
            throw Rejection(.invalidField, "Choose a position from the beginning to 30 days.", field: field)
        }
    }

    static func check(lead: Interval?) throws(Rejection) {
        if let lead, !leads.contains(lead) {
            throw Rejection(.invalidField, "Choose a lead of up to 10 seconds.", field: "lead")
        }
    }

    /// The neighbours of an item's place, which aren't among the items themselves.
    static func check(
        after: PlaybackItemID?, before: PlaybackItemID?, of items: [PlaybackItemID]
    ) throws(Rejection) {
        for (neighbour, field) in [(after, "after"), (before, "before")] {
            if let neighbour, items.contains(neighbour) {
                throw Rejection(.invalidField, "Name another item in \(field).", field: field)
            }
        }
    }
}

extension PlaybackItem {
    /// Checks the fields that need no state.
    func validate(_ field: String) throws(Rejection) {
        try PlaybackRules.title.check(title, field: "\(field).title")
        if let content { try PlaybackRules.content.check(content, field: "\(field).content") }
        if let artworkURL, artworkURL.wholeMatch(of: /https:\/\/[\x21-\x7E]{1,1016}/) == nil {
            throw Rejection(
                .invalidField, "Give an https address of at most 1,024 bytes.", field: "\(field).artworkURL")
        }
        if let duration, !PlaybackRules.durations.contains(duration) {
            throw Rejection(.invalidField, "Choose a duration of up to 30 days.", field: "\(field).duration")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let size = try? encoder.encode(self).count, size <= PlaybackRules.itemLimit else {
            throw Rejection(
                .invalidField, "Shorten the item to at most \(PlaybackRules.itemLimit) bytes of JSON.", field: field)
        }
    }
}

extension Rejection.Code {
    /// Another item is playing than the asker expects. `details.item` says which, `details.version` is the current version.
    public static let itemChanged: Self = "itemChanged"
    /// The queue has no such item.
    public static let itemNotFound: Self = "itemNotFound"
    /// The asker hasn't declared that they can be ready, so nobody waits for them.
    public static let notReady: Self = "notReady"
    /// More people are in the session than the asker wants it to wait with. `details.participants` says how many.
    public static let groupTooLarge: Self = "groupTooLarge"
}

extension Rejection {
    /// Another item is playing, or none.
    public static func itemChanged(_ playback: Playback?) -> Self {
        Rejection(
            .itemChanged, "Another item is playing by now; look again, and repeat this if you still want it.",
            field: "expectedItem",
            details: [
                "item": (playback?.item?.id).map { .string($0.description) } ?? .null,
                "version": .integer(playback?.version ?? 0),
            ])
    }
}
