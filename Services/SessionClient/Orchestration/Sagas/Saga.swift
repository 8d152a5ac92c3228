package import QuartetAPI
package import QuartetVocabulary

/// A request that waits for outcomes of several services.
///
/// A plain async function, run by any replica and from the start as often as needed: everything that it learns from
/// outside goes through ``SagaSteps``, which records it under a name, and a later run gets what was recorded. So its steps
/// must follow from its body and its recorded steps alone. The step that can be refused comes first and decides; later
/// ones are retried until accepted.
package protocol Saga: MessageBody {
    associatedtype Result: Encodable & Sendable
    /// Sagas of one account and lane run one after the other, in the order of the requests; one that rests after an error gives
    /// way to the others. So none may rely on an earlier one's having ended.
    static var lane: String { get }
    func run(_ steps: some SagaSteps) async throws -> Result
}

extension Saga {
    package static var lane: String { "account" }
}

/// What a saga learns from outside: each answer is recorded under a name, and the same in every run.
package protocol SagaSteps: Sendable {
    var id: ID<OperationSubject> { get }
    var account: AccountID { get }
    var startedAt: Instant { get }

    /// Asks a service, once however often the saga runs, and waits for the outcome.
    /// - Parameter name: The step's; the same in every run.
    /// - Throws: ``SagaError``, or what keeps the outcome from being known now.
    func ask(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID
    ) async throws -> Outcome

    /// After a step failed or was rejected, so that nothing was done: the next run asks under a new id.
    func askAnew(_ name: String) async throws

    /// Records that every owner has closed the account, ends its other sagas, and has what was asked for it emptied. Again, it
    /// changes nothing.
    func reportClosure() async throws
}

extension SagaSteps {
    /// The id of the command that a step asks: the same in every run.
    package func command(of step: String, attempt: Int32 = 1) -> CommandID {
        .derived(at: startedAt, from: Array("saga".utf8), id.bytes, Array(step.utf8), Array("\(attempt)".utf8))
    }

    /// A step that decides: its rejection is the saga's, and so is its failure.
    /// - Throws: `Rejection`, ``SagaError``, or what keeps the outcome from being known now.
    func decide(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID
    ) async throws -> CausedEvent? {
        switch try await ask(name, body, of: domain, for: account) {
        case .accepted(let event): return event
        case .rejected(let rejection): throw rejection
        case .failed(let code): throw SagaError.decisionFailed(name, code: code)
        }
    }

    /// A step after the decision: it must be accepted in the end.
    /// - Parameter pointless: A rejection that is as good: the account concerned is closed, say.
    /// - Returns: Whether it was accepted; false for a pointless one.
    /// - Throws: ``SagaError``, or what keeps the outcome from being known now.
    @discardableResult
    func demand(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID,
        unless pointless: Rejection.Code? = nil
    ) async throws -> Bool {
        try await demanded(name, body, of: domain, for: account, unless: pointless).isAccepted
    }

    /// A step after the decision, as ``demand(_:_:of:for:unless:)``, whose result is needed.
    /// - Returns: What it led to; nil for nothing, and if it was pointless.
    /// - Throws: ``SagaError``, or what keeps the outcome from being known now.
    func request(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID,
        unless pointless: Rejection.Code? = nil
    ) async throws -> CausedEvent? {
        try await demanded(name, body, of: domain, for: account, unless: pointless).event
    }

    private func demanded(
        _ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID,
        unless pointless: Rejection.Code?
    ) async throws -> (isAccepted: Bool, event: CausedEvent?) {
        switch try await ask(name, body, of: domain, for: account) {
        case .accepted(let event): return (true, event)
        case .rejected(let rejection) where rejection.code == pointless: return (false, nil)
        case .rejected(let rejection):
            try await askAnew(name)
            throw SagaError.stepRejected(name, rejection)
        case .failed(let code):
            try await askAnew(name)
            throw SagaError.stepFailed(name, code: code)
        }
    }
}

/// Why a saga did not get to its end this time.
package enum SagaError: Error, CustomStringConvertible {
    /// A step was found recorded with another command: this version of the saga isn't the one that began it. One that fits goes on.
    case changed(step: String)
    /// What is recorded of a step can't be read by this version. One that can goes on.
    case unreadable(step: String)
    /// What a step learnt was emptied when the account was closed, so nothing is left to do for it.
    case emptied(step: String)
    /// The step that decides failed: nothing was done.
    case decisionFailed(String, code: String)
    /// A later step failed; it is asked again later.
    case stepFailed(String, code: String)
    /// A later step was refused, which its saga says can't be; it is asked again later.
    case stepRejected(String, Rejection)
    /// Another replica runs it now, or it was ended because the account is closed.
    case notOwner

    package var description: String {
        switch self {
        case .changed(let step):
            "step \(step) is recorded with another command, so another version started this saga; it goes on where that version runs"
        case .unreadable(let step):
            "what is recorded of step \(step) can't be read by this version; it goes on where one runs that can"
        case .emptied(let step): "what step \(step) learnt was emptied because the account is closed"
        case .decisionFailed(let step, let code), .stepFailed(let step, let code): "step \(step) failed (\(code))"
        case .stepRejected(let step, let rejection): "step \(step) was rejected: \(rejection)"
        case .notOwner: "another replica is running it, or it has ended"
        }
    }

    /// Whether running it again can't help.
    package var isFinal: Bool {
        switch self {
        case .decisionFailed, .emptied: true
        case .changed, .unreadable, .stepFailed, .stepRejected, .notOwner: false
        }
    }
}
