public import Postgres
public import Vocabulary

extension Pipeline {
    /// Has the messages of accounts emptied in a schema's logs and outcomes, as soon as everybody has handled them:
    /// ``Retention`` does it. Queued in the transaction that closes the accounts, so one that is closed is forgotten.
    public func redact(_ accounts: [AccountID], in schema: String) {
        guard !accounts.isEmpty else { return }
        query("SELECT \(unescaped: schema).redact(a.account) FROM unnest(\(accounts)) AS a(account)")
    }
}
