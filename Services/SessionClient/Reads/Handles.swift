import Postgres
import QuartetSessionContract
import QuartetVocabulary

/// Whose handle or phone it is, by what session publishes.
struct Handles: Sendable {
    let pool: Pool

    func account(of handle: Handle) async throws -> AccountID? {
        try await pool.withConnection { database in
            try database.query(
                "SELECT h.account FROM session.handle AS h WHERE h.handle = \(handle.description)"
            ).only?.decode(0, as: AccountID.self)
        }
    }

    /// By whichever name the server's keys make of the number.
    func account(of number: PhoneNumber, _ codes: PhoneCodes) async throws -> AccountID? {
        let names = [codes.id(of: number)] + (codes.earlierIDs(of: number) ?? [])
        return try await pool.withConnection { database in
            try database.query("SELECT p.account FROM session.phone AS p WHERE p.phone_id = ANY (\(names))").only?
                .decode(0, as: AccountID.self)
        }
    }

    /// The handle of an account that is open.
    func handle(of account: AccountID) async throws -> Handle? {
        try await pool.withConnection { database in
            try database.query("SELECT p.handle FROM session.profile AS p WHERE p.account = \(account)").only?.decode(
                0, as: String.self)
        }.map(Handle.init(kept:))
    }
}
