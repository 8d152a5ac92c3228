import QuartetClient

/// Who is signed in on this computer, and whom to show.
enum AccountsPart {
    static let keys = "Tab next   Enter show   Esc cancel"

    static func dialog(_ shown: Shown) -> Model.Dialog {
        let names = shown.accounts.enumerated().map { number, account in
            "\(number + 1)  \(account.label)\(account.id == shown.me ? "  (now)" : "")"
        }
        let fields = (names + ["Sign in to another account"]).map { Form.Field(label: $0, kind: .button) }
        return Model.Dialog(
            form: Form(title: "Accounts on this computer", fields: fields), purpose: .accounts(shown.accounts.map(\.id))
        )
    }
}

extension DeviceAccount {
    /// What a person knows it by.
    var label: String {
        let handle = handle.map { "@\($0)" }
        return [name, handle].compactMap(\.self).joined(separator: "  ")
    }
}
