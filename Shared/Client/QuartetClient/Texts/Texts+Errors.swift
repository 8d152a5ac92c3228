public import Foundation
public import QuartetAPI
public import QuartetVocabulary
import Synchronization

extension Texts {
    private static let ofTheApp = Mutex<Texts?>(nil)
    @TaskLocal static var scoped: Texts?

    /// The texts that errors describe themselves in, and the views of this package: those that the app has set, or else those of the
    /// person's language.
    public static var current: Texts { scoped ?? ofTheApp.withLock { $0 } ?? Texts() }

    /// Sets the app's texts, when it starts.
    public static func use(_ texts: Texts) { ofTheApp.withLock { $0 = texts } }

    /// Why no answer arrived.
    public func sentence(_ error: TransportError) -> String {
        switch error {
        case .unreachable: self["problem.offline"]
        case .interrupted: self["problem.unknown"]
        case .malformed: self["problem.unreadable"]
        }
    }
}

// Whoever shows `error.localizedDescription` shows a sentence for people. What logs need besides is in `description`.

extension QuartetError: LocalizedError {
    public var errorDescription: String? { Texts.current.sentence(self) }
}

extension ConnectionError: LocalizedError {
    public var errorDescription: String? { Texts.current.sentence(lost: self) }
}

extension TransportError: LocalizedError {
    public var errorDescription: String? { Texts.current.sentence(self) }
}

extension APIError: LocalizedError {
    public var errorDescription: String? { Texts.current.sentence(self) }
}

extension Rejection: LocalizedError {
    public var errorDescription: String? { Texts.current.sentence(APIError(self)) }
}

extension MessageError: LocalizedError {
    public var errorDescription: String? { Texts.current["problem.unreadable"] }
}

extension AccountListProblem: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .unavailable: Texts.current["problem.accountsUnavailable"]
        case .damaged: Texts.current["problem.accountsDamaged"]
        }
    }
}

extension TokensUnreadable: LocalizedError {
    public var errorDescription: String? { Texts.current["lost.tokensUnreadable"] }
}

extension RenewedStore: LocalizedError {
    public var errorDescription: String? { Texts.current["problem.setAside"] }
}

extension ForgottenAccount: LocalizedError {
    public var errorDescription: String? { Texts.current["problem.needsAuthentication"] }
}

extension OutdatedCopy: LocalizedError {
    public var errorDescription: String? { Texts.current["problem.superseded"] }
}

extension OvertakenItem: LocalizedError {
    public var errorDescription: String? { Texts.current["problem.superseded"] }
}
