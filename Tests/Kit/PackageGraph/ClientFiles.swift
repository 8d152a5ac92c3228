import Foundation

/// The golden rule of the package for apps: what an app's features read is made and replaced in one file, that of its client. So
/// whoever asks how a state came about reads one file. And clients are strangers to each other: a feature that replaces one in a test
/// needs to know of no other. `SessionClient` alone may know the rest, since signing out concerns them all.
struct ClientFiles: Sendable {
    /// A file with a client.
    struct Client: Sendable {
        let name: String
        let file: PackageGraph.File
        let types: [Declaration]
    }

    /// A type at the top level of a file.
    struct Declaration: Sendable, Hashable {
        let name: String
        let line: Int
        let isPublic: Bool
        let isPrivate: Bool
    }

    private static let sources = "Shared/Client/QuartetClient/"
    private static let folder = "Shared/Client/QuartetClient/Clients/"
    /// What a client's file may import besides this package's own: nothing that draws or asks.
    private static let modules: Set = ["Foundation", "Observation", "Synchronization"]

    /// The client that may know the others.
    private static let knowsOthers = "SessionClient"
    /// By which all clients can be reached.
    private static let collection = "Quartet"

    let files: [PackageGraph.File]
    let clients: [Client]

    /// - Parameter files: Those of everything that apps add.
    init(files: [PackageGraph.File]) {
        self.files = files
        clients = files.filter { $0.path.hasPrefix(Self.folder) && $0.path.hasSuffix("Client.swift") }.map { file in
            Client(
                name: String(file.path.dropFirst(Self.folder.count).dropLast(".swift".count)), file: file,
                types: Self.declarations(in: file))
        }
    }

    /// Where what readers see could come from elsewhere, a sentence each.
    var violations: [String] {
        if clients.isEmpty { return ["there are no clients in \(Self.folder)"] }
        return clients.flatMap { Self.violations(of: $0) } + strays + forgeries
    }

    /// Where a client knows another, a sentence each.
    var acquaintances: [String] {
        var found: [String] = []
        for client in clients where client.name != Self.knowsOthers {
            let others = clients.filter { $0.name != client.name }.flatMap { $0.types.map(\.name) }
            let strangers = Set(others + [Self.collection])
            for (line, text) in Self.code(of: client.file) {
                for word in Self.words(of: text) where strangers.contains(word) {
                    found.append(
                        "\(client.file.path):\(line): \(client.name) knows \(word): clients are strangers to each other"
                    )
                }
            }
        }
        return found
    }

    private static func violations(of client: Client) -> [String] {
        var found: [String] = []
        if !client.types.contains(where: { $0.name == client.name && $0.isPublic }) {
            found.append("\(client.file.path): there is no \(client.name) in it")
        }
        for type in client.types where !type.isPublic && !type.isPrivate {
            found.append("\(client.file.path):\(type.line): \(type.name) is neither private nor for apps")
        }
        for type in client.types where type.name.hasPrefix("ReadOnly") && !isMadeHere(type, in: client.file) {
            found.append(
                "\(client.file.path):\(type.line): other files could make a \(type.name): its initializers must be private"
            )
        }
        for (line, module) in client.file.imports where !module.hasPrefix("Quartet") && !modules.contains(module) {
            found.append("\(client.file.path):\(line): a client needs no \(module); features do")
        }
        return found
    }

    /// Whether only its own file can make a type. Without any initializer, the compiler adds one that all files can call.
    private static func isMadeHere(_ type: Declaration, in file: PackageGraph.File) -> Bool {
        let body = code(of: file).drop { $0.line <= type.line }.prefix { !$0.text.hasPrefix("}") }
        let makers = body.map { $0.text.split(separator: " ") }.filter { words in
            words.contains { $0.hasPrefix("init(") || $0.hasPrefix("init?(") || $0.hasPrefix("init<") }
        }
        return !makers.isEmpty && makers.allSatisfy { $0.first == "private" || $0.first == "fileprivate" }
    }

    /// Clients that have no file of their own.
    private var strays: [String] {
        files.filter { $0.path.hasPrefix(Self.sources) }.flatMap { file -> [String] in
            Self.declarations(in: file)
                .filter {
                    $0.isPublic && $0.name.hasSuffix("Client") && file.path != "\(Self.folder)\($0.name).swift"
                }
                .map { "\(file.path):\($0.line): \($0.name) belongs into a file of its own in \(Self.folder)" }
        }
    }

    /// Files that make what a client shows, besides the client's own.
    private var forgeries: [String] {
        var found: [String] = []
        for client in clients {
            for state in client.types where state.name.hasPrefix("ReadOnly") {
                let making = "\(state.name)("
                for file in files where file.path != client.file.path && file.text.contains(making) {
                    for (line, text) in Self.code(of: file) where text.contains(making) {
                        found.append("\(file.path):\(line): only \(client.name)'s file makes a \(state.name)")
                    }
                }
            }
        }
        return found
    }

    // MARK: Reading

    private static let kinds: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]

    private static func declarations(in file: PackageGraph.File) -> [Declaration] {
        code(of: file).compactMap { number, text -> Declaration? in
            let words = text.split(separator: " ")
            // Not indented, so it is no type within a type.
            guard text.first?.isWhitespace == false, let kind = words.firstIndex(where: { kinds.contains($0) }),
                words.indices.contains(kind + 1), words.first != "extension"
            else { return nil }
            return Declaration(
                name: String(words[kind + 1].prefix { $0.isLetter || $0.isNumber }), line: number,
                isPublic: words[..<kind].contains("public"),
                isPrivate: words[..<kind].contains("private") || words[..<kind].contains("fileprivate"))
        }
    }

    private static func words(of text: Substring) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }

    /// The lines that are no comments.
    private static func code(of file: PackageGraph.File) -> [(line: Int, text: Substring)] {
        file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.element.drop(while: \.isWhitespace).hasPrefix("//") }
            .map { (line: $0.offset + 1, text: $0.element) }
    }
}

extension ClientFiles {
    /// The clients of the package in a folder.
    init(package: URL) throws {
        self.init(
            files: try PackageGraph.File.below(package.appending(path: "Shared/Client"), named: "Shared/Client"))
    }
}
