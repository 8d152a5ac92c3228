/// What helps against an error that PostgreSQL reports, by its SQLSTATE (PostgreSQL manual, appendix A).
package enum Blame: Sendable, Hashable {
    /// The message causes it: others succeed, and this one won't.
    case message
    /// Transactions got in each other's way. The same one succeeds with fresh loads.
    case contention
    /// The database or its environment is in trouble. That passes, so no message is given up for it.
    case trouble

    /// Looks up the code, then its class. A class that isn't listed counts as trouble: waiting loses nothing.
    package static func of(_ sqlState: String) -> Blame {
        codes[sqlState] ?? classes[String(sqlState.prefix(2))] ?? .trouble
    }

    /// Codes that differ from their class.
    static let codes: [String: Blame] = [
        // unique_violation: a neighbour inserted the row first. A fresh load sees it.
        "23505": .contention,
        // statement_completion_unknown
        "40003": .trouble,
    ]

    /// Every class that the server's errcodes.txt has; a test compares them.
    static let classes: [String: Blame] = [
        "00": .trouble,  // successful completion
        "01": .trouble,  // warning
        "02": .trouble,  // no data
        "03": .trouble,  // SQL statement not yet complete
        "08": .trouble,  // connection exception
        "09": .trouble,  // triggered action exception
        "0A": .trouble,  // feature not supported; also a cached plan whose table was altered
        "0B": .trouble,  // invalid transaction initiation
        "0F": .trouble,  // locator exception
        "0L": .trouble,  // invalid grantor
        "0P": .trouble,  // invalid role specification
        "0Z": .trouble,  // diagnostics exception
        "20": .trouble,  // case not found
        "21": .trouble,  // cardinality violation
        "22": .message,  // data exception
        "23": .message,  // integrity constraint violation
        "24": .trouble,  // invalid cursor state
        "25": .trouble,  // invalid transaction state; also a server that became read-only
        "26": .trouble,  // invalid SQL statement name
        "27": .trouble,  // triggered data change violation
        "28": .trouble,  // invalid authorization specification
        "2B": .trouble,  // dependent privilege descriptors still exist
        "2D": .trouble,  // invalid transaction termination
        "2F": .trouble,  // SQL routine exception
        "34": .trouble,  // invalid cursor name
        "38": .trouble,  // external routine exception
        "39": .trouble,  // external routine invocation exception
        "3B": .trouble,  // savepoint exception
        "3D": .trouble,  // invalid catalog name
        "3F": .trouble,  // invalid schema name
        "40": .contention,  // transaction rollback: serialization failure, deadlock
        "42": .trouble,  // syntax error or access rule violation: a right revoked, a column that a deploy adds
        "44": .trouble,  // WITH CHECK OPTION violation
        "53": .trouble,  // insufficient resources: disk full, out of memory, too many connections
        "54": .message,  // program limit exceeded
        "55": .trouble,  // object not in prerequisite state
        "57": .trouble,  // operator intervention: statement time-out, shutdown
        "58": .trouble,  // system error: I/O
        "72": .trouble,  // snapshot too old
        "F0": .trouble,  // configuration file error
        "HV": .trouble,  // foreign data wrapper error
        "P0": .message,  // raised by a function
        "XX": .trouble,  // internal error
    ]
}
