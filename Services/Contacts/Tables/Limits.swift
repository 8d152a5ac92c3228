import Postgres
import QuartetContactsRules

// contacts.limits: the number that operators can set. It is read with each batch, so all replicas decide alike.

extension Pipeline {
    func limits() -> Pending { query("SELECT l.contact_limit FROM contacts.limits AS l WHERE l.only_row") }
}

extension Pending {
    /// Overrides the number by that in contacts.limits.
    func limits(besides others: ContactsLimits) throws -> ContactsLimits {
        guard let row = try rows().only else { return others }
        var limits = others
        limits.contacts = try row.decode(0, as: Int.self)
        return limits
    }
}
