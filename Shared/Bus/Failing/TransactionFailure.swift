import Postgres
import Vocabulary

/// How a transaction failed.
public enum TransactionFailure: Sendable, Equatable {
    /// Another worker committed the batch's successor, or has the lease to.
    case fenced
    /// May succeed at once if run again: a deadlock, a serialisation failure, a unique key on a shared row. The fault is
    /// what it counts as when that doesn't end.
    case contention(Fault)
    /// Anything else that the server or the rules said.
    case failed(Fault)
    /// The connection is gone, or the commit's answer never came.
    case connectionLost

    /// Sorts errors by what helps against them.
    init(_ error: any Error) {
        if error is LeaseTaken {
            self = .fenced
            return
        }
        if error is CarefulTurnTaken {
            self = .contention(Fault(.trouble, "another message that may end its owner is in hand for long"))
            return
        }
        guard let error = (error as? PostgresError)?.root else {
            self = .failed((error as? MessageError).map(Fault.init) ?? Fault(.error, "\(error)"))
            return
        }
        switch error {
        case .server(let server) where server.constraint == "batch_has_one_successor" && server.sqlState == "23505":
            self = .fenced
        case .server(let server):
            switch Blame.of(server.sqlState) {
            case .message: self = .failed(Fault(.error, error.description))
            // What fresh loads don't help against is the message's doing.
            case .contention where server.sqlState == "23505": self = .contention(Fault(.error, error.description))
            case .contention: self = .contention(Fault(.trouble, error.description))
            case .trouble: self = .failed(Fault(.trouble, error.description))
            }
        case .decoding, .rolledBack: self = .failed(Fault(.trouble, error.description))
        default: self = .connectionLost
        }
    }

    /// Whether it happens in a system that is well.
    var isExpected: Bool {
        switch self {
        case .contention, .fenced: true
        case .failed, .connectionLost: false
        }
    }
}

extension Fault {
    /// What a reader lacks is an update; a body that isn't what its type says is the message's own fault.
    init(_ error: MessageError) {
        self.init(error.needs == nil ? .error : .unknown, error.description, needs: error.needs)
    }
}
