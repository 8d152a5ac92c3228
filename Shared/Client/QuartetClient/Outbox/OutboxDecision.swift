import Foundation
import QuartetAPI
import QuartetVocabulary

extension StoreUpdate.Outcome {
    /// What became of an item that another process has ended; nil if none has. Of what is too long ago nobody knows it.
    var result: Result<CommandReply, QuartetError>? {
        switch self {
        case .other(let stored): stored.result
        case .gone(let decision): decision.flatMap { OutboxDecision($0) }?.result ?? .failure(.unknown)
        case .done, .behind: nil
        }
    }

    /// What of it was refused in any case.
    var lost: OutboxItem.Lost? {
        switch self {
        case .other(let stored): stored.lost
        case .gone(let decision): decision.flatMap { OutboxDecision($0) }?.lost
        case .done, .behind: nil
        }
    }

    /// The version that it made of what it replaced as a whole.
    var made: Int64? {
        switch self {
        case .other(let stored): stored.made
        case .gone(let decision): decision.flatMap { OutboxDecision($0) }?.made
        case .done, .behind: nil
        }
    }
}

/// What became of a change, for those who wait for it in another process.
struct OutboxDecision: Codable, Hashable, Sendable {
    private enum End: String, Codable {
        case expired, unknown, superseded, cancelled
    }

    /// The server's command, if it was accepted.
    private var command: CommandID?
    private var event: String?
    private var refusal: UnsentChange.Refusal?
    /// Nil with a command or a refusal, or if a newer release wrote it.
    private var end: End?
    /// What of it was refused in any case.
    private(set) var lost: OutboxItem.Lost?
    /// See ``OutboxItem/made``.
    private(set) var made: Int64?
    /// The item that does as well what it was to do.
    private(set) var joined: OutboxItem.ID?

    init(joinedBy item: OutboxItem.ID) { (end, joined) = (.superseded, item) }

    init(_ result: Result<CommandReply, QuartetError>, lost: OutboxItem.Lost? = nil, made: Int64? = nil) {
        (self.lost, self.made) = (lost, made)
        switch result {
        case .success(let reply): (command, event) = (reply.command, reply.event)
        case .failure(.refused(let error)): refusal = UnsentChange.Refusal(error)
        case .failure(.expired): end = .expired
        case .failure(.superseded): end = .superseded
        case .failure(.cancelled): end = .cancelled
        case .failure: end = .unknown
        }
    }

    init?(_ encoded: Data) {
        guard let decoded = try? JSONDecoder().decode(Self.self, from: encoded) else { return nil }
        self = decoded
    }

    /// Of what can't be encoded nobody learns anything. Two that say the same are the same.
    var encoded: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)) ?? Data()
    }

    var result: Result<CommandReply, QuartetError> {
        if let command { return .success(CommandReply(command: command, event: event)) }
        if let refusal { return .failure(.refused(refusal.error)) }
        return switch end {
        case .expired: .failure(.expired)
        case .superseded: .failure(.superseded)
        case .cancelled: .failure(.cancelled)
        case .unknown, nil: .failure(.unknown)
        }
    }
}
