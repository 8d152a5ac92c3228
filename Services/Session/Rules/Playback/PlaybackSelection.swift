import QuartetSessionContract
import QuartetVocabulary

extension SessionRows.Selection {
    mutating func add(_ command: PlaybackCommand) {
        switch command {
        case .setPlayback(let command): addPlayback(command.group)
        case .playItem(let command): addQueue(command.group)
        case .nextItem(let command): addQueue(command.group)
        case .queueInsert(let command): addQueue(command.group)
        case .queueMove(let command): addQueue(command.group)
        case .queueRemove(let command): addQueue(command.group)
        case .declareReadiness(let command): groups.insert(command.group)
        case .beginSuspension(let command): addPlayback(command.group)
        case .endSuspension(let command): addPlayback(command.group)
        case .expireSuspension(let command): addPlayback(command.group)
        }
    }

    /// What plays, for which a suspension counts, too.
    mutating func addPlayback(_ group: GroupID) {
        groups.insert(group)
        playing.insert(group)
    }

    /// What plays, and what comes next.
    mutating func addQueue(_ group: GroupID) {
        addPlayback(group)
        queueing.insert(group)
    }
}
