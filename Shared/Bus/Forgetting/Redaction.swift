package import Postgres
package import QuartetVocabulary

extension Pipeline {
    /// Asks ``Retention`` to empty the messages of closed accounts in a schema's logs and outcomes once they are
    /// handled. Queue it in the transaction that closes the accounts, so that no closed account is missed.
    package func redact(_ accounts: [AccountID], in schema: String) {
        guard !accounts.isEmpty else { return }
        query("SELECT \(unescaped: schema).redact(a.account) FROM unnest(\(accounts)) AS a(account)")
    }
}
