import Crypto
package import Foundation

/// A numbered SQL file, rendered.
package struct Migration: Sendable, Hashable {
    /// The four digits that the file's name begins with.
    package let number: Int
    /// Such as `0001-log.sql`.
    package let file: String
    /// The file's text with its includes replaced, as it is sent to PostgreSQL.
    package let sql: String
    /// SHA-256 of ``sql``, in hexadecimal digits.
    package let checksum: String
    /// Whether it may be applied after files of higher numbers. Its text then begins with `-- Late:` and the reason.
    package var mayBeLate: Bool { sql.hasPrefix("-- Late: ") }
    /// The oldest release that may run with what the file does, if it has the line `-- compatible with <release>`.
    package let compatibleWith: ReleaseVersion?

    /// - Throws: ``MigrationError/badName(file:)``, or ``MigrationError/badLine(file:line:reason:)`` for a statement of
    ///   compatibility that isn't one.
    package init(file: String, sql: String) throws(MigrationError) {
        let digits = file.prefix { $0.isASCII && $0.isNumber }
        let name = file.dropFirst(digits.count)
        guard digits.count == 4, let number = Int(digits), name.hasPrefix("-"), name.hasSuffix(".sql"), name.count > 5
        else {
            throw .badName(file: file)
        }
        self.number = number
        self.file = file
        self.sql = sql
        compatibleWith = try Self.compatibility(in: sql, of: file)
        checksum = SHA256.hash(data: Data(sql.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    private static func compatibility(
        in sql: String, of file: String
    ) throws(MigrationError) -> ReleaseVersion? {
        let mark = "-- compatible with"
        var found: ReleaseVersion?
        for (index, line) in sql.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where line.hasPrefix(mark) {
            guard found == nil else {
                throw .badLine(file: file, line: index + 1, reason: "a file says only once what it is compatible with")
            }
            let version = line.dropFirst(mark.count)
            guard version.hasPrefix(" "), let release = ReleaseVersion(String(version.dropFirst())), release.isReleased
            else {
                throw .badLine(
                    file: file, line: index + 1,
                    reason: "expected a released version, as in '\(mark) 0.2.0', found '\(line)'")
            }
            found = release
        }
        return found
    }
}

/// All migrations of one schema.
package struct MigrationSet: Sendable, Hashable {
    package let schema: String
    /// By ascending number.
    package let migrations: [Migration]

    /// - Parameter migrations: In any order.
    /// - Throws: ``MigrationError/sameNumber(_:_:_:)``.
    package init(schema: String, migrations: [Migration]) throws(MigrationError) {
        self.schema = schema
        self.migrations = migrations.sorted { ($0.number, $0.file) < ($1.number, $1.file) }
        for (first, second) in zip(self.migrations, self.migrations.dropFirst()) where first.number == second.number {
            throw .sameNumber(first.number, first.file, second.file)
        }
    }

    /// Reads a folder of `NNNN-name.sql` files. Other files in it are an error, because one may be a misnamed
    /// migration.
    /// - Parameter templates: What its files may include.
    package init(schema: String, folder: URL, templates: MigrationTemplates) throws(MigrationError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw .folderMissing(folder.path)
        }
        var migrations: [Migration] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let text = try read(folder.appending(path: name))
            migrations.append(try Migration(file: name, sql: try templates.render(text, file: name)))
        }
        try self.init(schema: schema, migrations: migrations)
    }

    /// Reads the migrations of a target and the bus's templates from beside the executable.
    /// - Parameters:
    ///   - target: The target with the resource folder `Migrations`.
    ///   - folder: The folder of the migrations, if it is elsewhere.
    ///   - templates: The folder of the bus's templates, if it is elsewhere.
    package init(
        schema: String, target: String, folder: URL? = nil, templates: URL? = nil
    ) throws(MigrationError) {
        try self.init(
            schema: schema, folder: folder ?? ResourceFolder.url("Migrations", of: target),
            templates: MigrationTemplates(folders: ["bus": templates ?? ResourceFolder.url("SQL", of: "Bus")]))
    }
}
