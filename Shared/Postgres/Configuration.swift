import CLibpq

/// How to reach a server, in any form that libpq understands (PostgreSQL manual, section 34.1.2). So service files,
/// several hosts, TLS and password files work as everywhere else, and the `PG*` environment variables fill in what is
/// missing.
public struct Configuration: Sendable {
    /// A URI (`postgresql://…`) or keywords and values (`host=… dbname=…`); may be empty.
    public var conninfo: String
    /// Keywords that override what `conninfo` says, such as `application_name`.
    public var parameters: [String: String] = [:]
    /// Run-time parameters that each session starts with, such as `statement_timeout`.
    public var settings: [String: String] = [:]
    /// How long an attempt to connect may take.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a session may hold up one of these connections while it waits for its own client. Then it is ended, if
    /// it belongs to the same role and database. Nil: never.
    public var blockerPatience: Duration?

    public init(_ conninfo: String) {
        self.conninfo = conninfo
    }

    /// The same configuration with a purpose, which is added to `application_name`.
    public func named(_ purpose: String) -> Configuration {
        var named = self
        named.parameters["application_name"] = [parameters["application_name"], purpose].compactMap(\.self).joined(
            separator: " ")
        return named
    }

    /// Whether libpq can read what was given. If it can't, its error quotes it, with a password that may be in it.
    var isReadable: Bool {
        // Anything else is the name of a database.
        guard conninfo.contains(where: { $0 == "=" || $0 == "@" }) || conninfo.contains("://") else { return true }
        guard let options = PQconninfoParse(conninfo, nil) else { return false }
        PQconninfoFree(options)
        return true
    }

    /// Keywords and values for `PQconnectStartParams` with `expand_dbname`.
    var keywords: [(String, String)] {
        var keywords: [(String, String)] = [("dbname", conninfo)]
        keywords += [
            ("client_encoding", "UTF8"),
            // Lets the kernel notice a peer that vanished.
            ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
        ]
        keywords += parameters.sorted { $0.key < $1.key }
        let options = settings.sorted { $0.key < $1.key }.map { "-c \($0)=\(Self.escaped($1))" }
        if !options.isEmpty {
            keywords.append(
                ("options", ([given(option: "options")].compactMap { $0 } + options).joined(separator: " ")))
        }
        return keywords
    }

    /// In `options`, spaces separate and backslashes quote.
    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
    }

    private func given(option: String) -> String? {
        guard let options = PQconninfoParse(conninfo, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var current = options
        while let keyword = current.pointee.keyword {
            if String(cString: keyword) == option, let value = current.pointee.val { return String(cString: value) }
            current += 1
        }
        return nil
    }
}

extension Configuration: CustomStringConvertible {
    /// Where it leads, without secrets.
    public var description: String {
        var known: [String] = []
        if let options = PQconninfoParse(conninfo, nil) {
            defer { PQconninfoFree(options) }
            var current = options
            while let keyword = current.pointee.keyword {
                let name = String(cString: keyword)
                if ["host", "hostaddr", "port", "dbname", "user", "service"].contains(name),
                    let value = current.pointee.val
                {
                    known.append("\(name)=\(String(cString: value))")
                }
                current += 1
            }
        }
        return known.isEmpty ? "PostgreSQL, as the environment says" : known.joined(separator: " ")
    }
}
