import QuartetClient

/// Playing something: for oneself, or so that others can listen.
enum PlayPart {
    private static let titleLabel = "Title"

    /// What is said where an answer was about another session than the one in which the person listens by now.
    static let changed = Model.Notice(
        text: "Your session has changed meanwhile: nothing was played. Press m again.", isError: true)

    static func open(_ shown: Shown, _ model: inout Model) {
        let fields: [Form.Field] = [.init(label: titleLabel, kind: .text), .init(label: "Play", kind: .button)]
        model.dialog = .init(form: Form(title: "Play something", fields: fields), purpose: .play(shown.listening))
    }

    /// What somebody wrote into the form is played. Unless it is heard in a session anyway, they are asked whether others may join.
    static func play(_ form: Form, _ session: GroupID?, _ shown: Shown, _ model: inout Model) -> Action? {
        let title = form.text(titleLabel)
        guard !title.isEmpty else { return nil }
        model.dialog = nil
        guard isCurrent(session, shown, &model) else { return nil }
        let prompt = GroupActivationPrompt(title: title, shown.eligibility)
        guard session == nil, prompt.isNeeded else {
            return .play(title: title, withOthers: false, session: session)
        }
        // The first is what Enter chooses, and Escape cancels.
        let buttons = [GroupActivation.disabled, .preferred].filter(prompt.choices.contains)
        model.dialog = .init(
            form: Form(
                title: Words.prompt(prompt), fields: buttons.map { .init(label: Words.choice($0), kind: .button) }),
            purpose: .activate(title: title, session))
        return nil
    }

    private static func isCurrent(_ session: GroupID?, _ shown: Shown, _ model: inout Model) -> Bool {
        if shown.listening == session { return true }
        model.notice = changed
        return false
    }

    static func activate(
        _ title: String, _ button: String, _ session: GroupID?, _ shown: Shown, _ model: inout Model
    ) -> Action? {
        model.dialog = nil
        guard isCurrent(session, shown, &model) else { return nil }
        let prompt = GroupActivationPrompt(title: title, shown.eligibility)
        switch prompt.result(of: GroupActivation.allCases.first { Words.choice($0) == button }) {
        case .preferred: return .play(title: title, withOthers: true, session: session)
        case .disabled: return .play(title: title, withOthers: false, session: session)
        case .cancelled:
            if let obstacle = shown.eligibility.obstacles.first {
                model.notice = .init(text: Words.obstacle(obstacle), isError: true)
            }
            return nil
        }
    }
}
