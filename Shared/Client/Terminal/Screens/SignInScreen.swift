import QuartetClient

/// Signing in, and making an account.
enum SignInScreen {
    static let signIn = Form(
        title: "Sign in",
        fields: [
            .init(label: "Handle", kind: .text), .init(label: "Password", kind: .secret),
            .init(label: "Sign in", kind: .button), .init(label: "I'm new here", kind: .button),
        ])
    static let signUp = Form(
        title: "Create an account",
        fields: [
            .init(label: "Handle", kind: .text), .init(label: "Name", kind: .text),
            .init(label: "Password", kind: .secret), .init(label: "Create the account", kind: .button),
            .init(label: "I have an account", kind: .button),
        ])

    static func lines(_ model: Model, _ shown: Shown, width: Int, height: Int) -> [Line] {
        var lines = model.signIn.lines(width: width, height: height - 4)
        let accounts = shown.accounts.isEmpty ? "" : "   Esc: accounts on this computer"
        lines += [.empty, Line("Server: \(shown.server ?? "")\(accounts)", .dim)]
        if let error = shown.error, shown.session.isSignedIn || error == .tokensUnreadable {
            lines.append(Line(Words.lost(error), .colored(.yellow)))
        }
        return lines
    }

    static func handle(_ key: Key, _ model: inout Model) -> Action? {
        guard case .pressed(let button) = model.signIn.handle(key) else { return nil }
        let form = model.signIn
        switch button {
        case "I'm new here": model.signIn = signUp
        case "I have an account": model.signIn = signIn
        case "Sign in": return .signIn(handle: form.text("Handle"), password: form.text("Password"))
        default:
            return .signUp(handle: form.text("Handle"), name: form.text("Name"), password: form.text("Password"))
        }
        return nil
    }
}
