/// Whether somebody can do something together with others now, and what stands in the way.
public struct GroupEligibility: Hashable, Sendable {
    public enum Obstacle: String, CaseIterable, Hashable, Sendable {
        case signedOut, offline, noContacts
    }

    /// The one to remove first, first.
    public let obstacles: [Obstacle]

    public init(session: ReadOnlySessionState, connection: ConnectionState, contacts: ReadOnlyContactsState) {
        guard session.isSignedIn, !connection.needsSignIn else {
            obstacles = [.signedOut]
            return
        }
        var found: [Obstacle] = []
        if !connection.isConnected { found.append(.offline) }
        if contacts.count == 0 { found.append(.noContacts) }
        obstacles = found
    }

    public var isEligible: Bool { obstacles.isEmpty }
}

/// What a person wants of something that others could take part in.
public enum GroupActivation: String, CaseIterable, Hashable, Sendable {
    /// It is for others, too: the app creates a group session.
    case preferred
    /// It is for this person alone.
    case disabled
    /// It doesn't begin at all.
    case cancelled
}

/// What an app asks before something begins that others could take part in. ``Texts`` has its words.
///
/// ```swift
/// let prompt = GroupActivationPrompt(title: "Notturno", eligibility)
/// print(Texts().sentence(prompt), prompt.choices.map { Texts().sentence($0) })
/// ```
public struct GroupActivationPrompt: Hashable, Sendable {
    /// What begins.
    public let title: String
    public let eligibility: GroupEligibility

    public init(title: String, _ eligibility: GroupEligibility) {
        (self.title, self.eligibility) = (title, eligibility)
    }

    /// Without others there is nothing to ask: it begins for this person alone.
    public var isNeeded: Bool { eligibility.isEligible }

    public var choices: [GroupActivation] { isNeeded ? [.preferred, .disabled, .cancelled] : [.disabled, .cancelled] }

    /// What comes of a choice, by what is possible when it is made. What somebody wanted to share doesn't begin for them alone.
    /// - Parameter choice: Nil where the prompt was closed.
    public func result(of choice: GroupActivation?) -> GroupActivation {
        choice.flatMap { choices.contains($0) ? $0 : nil } ?? .cancelled
    }
}
