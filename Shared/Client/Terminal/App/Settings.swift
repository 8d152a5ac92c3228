import Foundation

/// What the app was started with.
struct Settings: Hashable, Sendable {
    static let usage = """
        Usage: quartet-tui [--server URL] [--folder FOLDER] [--certificates FILE] [--state]

        Quartet in a terminal: check-in, contacts, pings, notifications, group sessions
        with a game, and what plays. Keys stand in the last row; Ctrl-C ends it.

          --server URL     where the server is (or QUARTET_SERVER)
          --folder FOLDER  what it keeps on this computer: who is signed in, and state
                           for when there is no network (or QUARTET_FOLDER; by default
                           a folder for each server in ~/.local/state/quartet-tui).
                           Up to eight accounts can be in it: @ switches.
          --certificates FILE
                           whom to trust instead of the system's authorities: their
                           certificates in PEM (or QUARTET_CERTIFICATES)
          --state          print what it keeps of the account that is shown, and end: without tokens,
                           the contact code and the phone, but with what people wrote
          --help           show this
          --version        print the version

        NO_COLOR=1 leaves out colours. Where TERM is dumb, it prints lines, and takes a
        line for each key: one character, or tab, esc, up, down, left, right, quit.
        """

    /// A mistake in the arguments.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    /// Nil if none was named.
    var server: URL?
    var folder: URL
    /// Nil for what the system trusts.
    var certificates: URL?
    var wantsState = false
    var wantsHelp = false
    var wantsVersion = false

    /// - Throws: ``Wrong``.
    init(_ arguments: some Sequence<String>, _ environment: [String: String]) throws(Wrong) {
        var (address, path) = (environment["QUARTET_SERVER"], environment["QUARTET_FOLDER"])
        var trusted = environment["QUARTET_CERTIFICATES"]
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            func value() throws(Wrong) -> String {
                if parts.count == 2 { return parts[1] }
                guard let next = rest.popFirst() else {
                    throw Wrong(description: "\(argument) needs a value; see --help")
                }
                return next
            }
            switch parts.first {
            case "--server": address = try value()
            case "--folder": path = try value()
            case "--certificates": trusted = try value()
            case "--state": wantsState = true
            case "--help", "-h": wantsHelp = true
            case "--version": wantsVersion = true
            default: throw Wrong(description: "there is no \(argument); see --help")
            }
        }
        if let address, !address.isEmpty {
            guard let url = URL(string: address), ["http", "https"].contains(url.scheme), url.host() != nil else {
                throw Wrong(description: "\(address) is no address of a server, such as https://example.org")
            }
            server = url
        }
        if let trusted, !trusted.isEmpty {
            guard FileManager.default.isReadableFile(atPath: trusted) else {
                throw Wrong(description: "\(trusted) can't be read; name a file of certificates in PEM")
            }
            certificates = URL(filePath: trusted)
        }
        folder = path.map { URL(filePath: $0) } ?? Self.usualFolder(server, environment)
    }

    private static func usualFolder(_ server: URL?, _ environment: [String: String]) -> URL {
        let home = environment["HOME"].map { URL(filePath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        let base =
            environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
            ?? home.appending(path: ".local/state")
        return base.appending(path: "quartet-tui").appending(path: server.map { name(of: $0) } ?? "none")
    }

    /// A name for each server: the host, after the scheme unless that is https, and before the port and the path. Tokens
    /// for `https://h` are never sent to `http://h`.
    private static func name(of server: URL) -> String {
        // A host is made of letters, digits, dots, dashes and, in an IPv6 address, colons: + separates it.
        let scheme = server.scheme == "https" ? nil : server.scheme
        let name = [scheme, server.host(), server.port.map { "\($0)" }].compactMap(\.self).joined(separator: "+")
        let path = server.path.hasSuffix("/") ? String(server.path.dropLast()) : server.path
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._"))
        return name + (path.addingPercentEncoding(withAllowedCharacters: plain) ?? "")
    }
}
