import QuartetClient

/// Playing something: for oneself, or so that others can listen.
enum PlayPart {
    private static let titleLabel = "Title"

    static func open(_ model: inout Model) {
        let fields: [Form.Field] = [.init(label: titleLabel, kind: .text), .init(label: "Play", kind: .button)]
        model.dialog = .init(form: Form(title: "Play something", fields: fields), purpose: .play)
    }

    /// What somebody wrote into the form is played. Unless it is heard in a session anyway, they are asked whether others may join.
    static func play(_ form: Form, _ shown: Shown, _ model: inout Model) -> Action? {
        let title = form.text(titleLabel)
        guard !title.isEmpty else { return nil }
        model.dialog = nil
        let prompt = GroupActivationPrompt(title: title, shown.eligibility)
        guard shown.listening == nil, prompt.isNeeded else { return .play(title: title, withOthers: false) }
        // The first is what Enter chooses, and Escape cancels.
        let buttons = [GroupActivation.disabled, .preferred].filter(prompt.choices.contains)
        model.dialog = .init(
            form: Form(
                title: Words.prompt(prompt), fields: buttons.map { .init(label: Words.choice($0), kind: .button) }),
            purpose: .activate(title: title))
        return nil
    }

    static func activate(_ title: String, _ button: String, _ shown: Shown, _ model: inout Model) -> Action? {
        model.dialog = nil
        let prompt = GroupActivationPrompt(title: title, shown.eligibility)
        switch prompt.result(of: GroupActivation.allCases.first { Words.choice($0) == button }) {
        case .preferred: return .play(title: title, withOthers: true)
        case .disabled: return .play(title: title, withOthers: false)
        case .cancelled:
            if let obstacle = shown.eligibility.obstacles.first {
                model.notice = .init(text: Words.obstacle(obstacle), isError: true)
            }
            return nil
        }
    }
}
