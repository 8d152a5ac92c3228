import Postgres
import QuartetVocabulary

/// How a transaction failed.
enum TransactionFailure: Sendable, Equatable {
    /// Another worker committed the batch's successor, or has the lease to do so.
    case fenced
    /// A deadlock, a serialisation failure, a unique key on a shared row: it may succeed at once if run again. The
    /// fault is what it counts as if that goes on.
    case contention(Fault)
    /// Any other error of the server or the rules.
    case failed(Fault)
    /// The connection is gone, or the commit's answer never came.
    case connectionLost

    /// Classifies an error by what helps against it.
    init(_ error: any Error) {
        if error is LeaseTaken {
            self = .fenced
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
            // If fresh loads don't help, the message is at fault.
            case .contention where server.sqlState == "23505": self = .contention(Fault(.error, error.description))
            case .contention: self = .contention(Fault(.trouble, error.description))
            case .trouble: self = .failed(Fault(.trouble, error.description))
            }
        case .decoding, .rolledBack: self = .failed(Fault(.trouble, error.description))
        default: self = .connectionLost
        }
    }

    /// Whether the same may succeed later without any change to the message or the rules.
    var mayPass: Bool {
        switch self {
        case .contention: true
        case .failed(let fault): fault.code == .trouble
        case .connectionLost, .fenced: false
        }
    }

    /// Whether it happens in a healthy system.
    var isExpected: Bool {
        switch self {
        case .contention, .fenced: true
        case .failed, .connectionLost: false
        }
    }
}

extension Fault {
    /// An unknown type calls for an update. A body that isn't what its type says is the message's own fault.
    init(_ error: MessageError) {
        self.init(error.needs == nil ? .error : .unknown, error.description, needs: error.needs)
    }
}
