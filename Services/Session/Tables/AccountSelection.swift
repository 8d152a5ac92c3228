import Postgres
import QuartetSessionContract
import QuartetVocabulary

/// Accounts by id, by what their handle looks like, or by phone.
struct AccountSelection {
    var accounts: Set<AccountID> = []
    var skeletons: Set<String> = []
    var phones: Set<PhoneID> = []

    var isEmpty: Bool { accounts.isEmpty && skeletons.isEmpty && phones.isEmpty }

    /// A query for their ids.
    var query: Query {
        """
        SELECT u.account FROM unnest(\(accounts.sorted())) AS u(account)
         UNION
        SELECT a.account FROM session.account AS a WHERE a.skeleton = ANY (\(skeletons.sorted()))
         UNION
        SELECT a.account FROM session.account AS a WHERE a.phone_id = ANY (\(phones.sorted()))
        """
    }
}
