import Vocabulary

/// A request that waits for outcomes of several services.
///
/// A plain async function, run by any replica and from the start as often as needed: everything that it learns from
/// outside goes through ``SagaRun``, which records it under a name, and a later run gets what was recorded. So its steps
/// must follow from its body and its recorded steps alone. The step that can be refused comes first and decides; later
/// ones are retried until accepted.
protocol Saga: MessageBody {
    associatedtype Result: Encodable & Sendable
    /// Sagas of one account and lane run one after the other.
    static var lane: String { get }
    func run(_ run: SagaRun) async throws -> Result
}

extension Saga {
    static var lane: String { "account" }
}

/// Why a saga did not get to its end this time.
enum SagaError: Error, CustomStringConvertible {
    /// A step was found recorded with another command: this version of the saga isn't the one that began it.
    case changed(step: String)
    /// The step that decides failed: nothing was done.
    case decisionFailed(String, code: String)
    /// A later step failed; it is asked again later.
    case stepFailed(String, code: String)
    /// A later step was refused, which its saga says can't be.
    case stepRejected(String, Rejection)
    /// Another replica runs it now.
    case notOwner

    var description: String {
        switch self {
        case .changed(let step):
            "step \(step) is recorded with another command: the saga was begun by another version; deploy that one, or end it by hand"
        case .decisionFailed(let step, let code), .stepFailed(let step, let code): "step \(step) failed (\(code))"
        case .stepRejected(let step, let rejection): "step \(step) was rejected: \(rejection)"
        case .notOwner: "another replica runs it"
        }
    }

    /// Whether running it again can't help.
    var isFinal: Bool {
        switch self {
        case .changed, .decisionFailed, .stepRejected: true
        case .stepFailed, .notOwner: false
        }
    }
}
