import Foundation
import GRDB
import QuartetClient
import QuartetVocabulary

/// The marks of the accounts that are open in a store, and of those that were.
///
/// A sign-out leaves an account's mark behind and nothing else: a random number, which a process that knows it takes for the sign-out. A
/// mark that is missing says nothing: the row or the whole file was lost, and whoever knows it goes on.
enum StoreMarks {
    /// Nobody's account, with a mark for each one whose own couldn't be read in a damaged file.
    static let nobody = ""
    private static let (lostPrefix, gonePrefix) = ("lost-", "gone-")
    /// Its row says that whoever doesn't find their own mark has to end: somebody signed out whose mark was lost.
    private static let anyGone = "gone-"
    /// How many sign-outs are remembered.
    private static let limit = 100

    /// Leaves the rows that are about sign-outs out of a query.
    static let accountsOnly = "account NOT GLOB '\(gonePrefix)*'"

    static func isAccount(_ account: String) -> Bool { !account.hasPrefix(gonePrefix) }
    static func isLost(_ mark: String) -> Bool { mark.hasPrefix(lostPrefix) }

    static func mark(of account: AccountID, in database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT mark FROM opened WHERE account = ?", arguments: ["\(account)"])
    }

    /// The mark of an account that is about to be written, which gets one if it has none.
    /// - Parameters:
    ///   - known: The mark as the process knows it; nil for none.
    ///   - carriesOn: Whether the process writes what it knows, so that a missing mark doesn't matter.
    /// - Throws: ``ForgottenAccount`` after a sign-out; ``RenewedStore`` if the mark is missing.
    static func claim(
        _ account: AccountID, knownAs known: String?, carriesOn: Bool, in database: Database
    ) throws -> String {
        try adoptLost(for: account, in: database)
        let found = try mark(of: account, in: database)
        if let found, known == nil || found == known || isLost(found) { return found }
        if let known {
            try check(known, carriesOn: carriesOn, in: database)
            if let found { return found }
        }
        // Other processes may know it as well.
        let mark = known.flatMap { isLost($0) ? nil : $0 } ?? UUID().uuidString
        try database.execute(
            sql: "INSERT INTO opened (account, mark) VALUES (?, ?)", arguments: ["\(account)", mark])
        return mark
    }

    /// Says what it means that an account has another mark than the known one.
    static func check(_ known: String, carriesOn: Bool, in database: Database) throws {
        let isGone =
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT * FROM opened WHERE account IN (?, ?))",
                arguments: [gonePrefix + known, anyGone]) ?? false
        if isGone { throw ForgottenAccount() }
        if !carriesOn { throw RenewedStore() }
    }

    // MARK: Sign-outs

    /// Has the processes end that know a mark.
    static func noteGone(_ mark: String, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO opened (account, mark)
                SELECT ?, printf('%020d', 1 + coalesce(max(mark), 0)) FROM opened WHERE NOT (\(accountsOnly))
                """,
            arguments: [isLost(mark) ? anyGone : gonePrefix + mark])
        try database.execute(
            sql: """
                DELETE FROM opened WHERE NOT (\(accountsOnly)) AND account NOT IN (
                  SELECT account FROM opened WHERE NOT (\(accountsOnly)) ORDER BY mark DESC LIMIT \(limit))
                """)
    }

    // MARK: Marks that are lost

    /// Has all processes go on that knew an account before the file was damaged.
    static func noteLost(in database: Database) throws {
        try database.execute(sql: "DELETE FROM opened WHERE account = ?", arguments: [anyGone])
        try database.execute(
            sql: "INSERT INTO opened (account, mark) VALUES (?, ?)",
            arguments: [nobody, "\(lostPrefix)\(UUID().uuidString)"])
    }

    /// Has all processes end that don't find their mark.
    static func noteAllGone(in database: Database) throws { try noteGone(lostPrefix, in: database) }

    static func adoptLost(for account: AccountID, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO opened (account, mark) SELECT ?, mark FROM opened WHERE account = ?",
            arguments: ["\(account)", nobody])
    }
}
