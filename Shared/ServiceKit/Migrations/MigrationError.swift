/// Why migrations can't be read, rendered or applied. Each case says what to do.
package enum MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder of migrations or templates isn't where it should be.
    case folderMissing(String)
    case unreadable(file: String, reason: String)
    /// A file's name isn't `NNNN-name.sql`.
    case badName(file: String)
    /// Two files have the same number.
    case sameNumber(Int, String, String)
    /// A line of a file, or of a template that it includes, can't be rendered.
    case badLine(file: String, line: Int, reason: String)
    /// A file was changed after it was applied.
    case changed(file: String, appliedAt: String)
    /// A file was renamed after it was applied.
    case renamed(file: String, appliedAs: String)
    /// The database has migrations that this build doesn't know, and that don't say that they are compatible with it.
    case newer(schema: String, applied: [String])
    /// A file's number is lower than that of an applied one.
    case tooLate(file: String, after: String)
    /// The schema lacks migrations that this build needs.
    case pending(schema: String, files: [String], command: String)
    /// A file ends the transaction in which it is applied.
    case endedTransaction(file: String)
    /// PostgreSQL refused a file.
    case failed(file: String, reason: String)

    package var description: String {
        switch self {
        case .folderMissing(let folder):
            "there is no folder \(folder). It is built next to the executable and must be moved together with it; "
                + "or set --migrations-dir and --migrations-templates"
        case .unreadable(let file, let reason):
            "\(file) can't be read: \(reason)"
        case .badName(let file):
            "\(file) isn't named like a migration: four digits, a dash and a name, as in 0001-log.sql"
        case .sameNumber(let number, let first, let second):
            "\(first) and \(second) both have number \(number); give the later one the next free number"
        case .badLine(let file, let line, let reason):
            "\(file):\(line): \(reason)"
        case .changed(let file, let appliedAt):
            "\(file), or a template that it includes, was changed after it was applied at \(appliedAt). "
                + "Migrations don't change once they are applied: restore the file and put the change into a new one"
        case .renamed(let file, let appliedAs):
            "\(file) was applied as \(appliedAs); rename it back, or, if it is a new migration, give it the next free number"
        case .newer(let schema, let applied):
            "schema \(schema) is newer than this build, which lacks \(applied.joined(separator: ", ")). "
                + "Run the build that applied these, or a later one"
        case .tooLate(let file, let after):
            "\(file) is too late: \(after) is already applied. Give it the next free number"
        case .pending(let schema, let files, let command):
            "schema \(schema) lacks \(files.joined(separator: ", ")); apply them: \(command) migrate"
        case .endedTransaction(let file):
            "\(file) ends the transaction in which it is applied; remove BEGIN, COMMIT and ROLLBACK"
        case .failed(let file, let reason):
            "\(file) failed, and nothing of it was applied: \(reason)"
        }
    }
}
