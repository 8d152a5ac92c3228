/// The package's targets: what each declares that it depends on, and what its files import. It knows the laws of who may
/// know whom, and finds who breaks them.
///
/// - Services are strangers: a target below `Services/X` neither depends on nor imports a target of another service, or
///   another service's contract. `SessionClient` alone knows all contracts.
/// - The bus knows no service: nothing in `Shared/Bus` imports one, or has one's name in its text.
/// - Vocabulary ← Postgres ← Storage, Bus: neither of the two knows the other, and Storage knows nothing else.
/// - Shared code is below the services: nothing in `Shared` depends on a target in `Services`.
/// - `Shared/API` knows contracts and the vocabulary, session-client's orchestration knows these and the API: neither knows
///   the bus, PostgreSQL or a transport.
/// - Of session-client's files, those in `HTTP` alone know HTTP, and those in `GRPC` alone know gRPC and Protobuf.
/// - What apps add knows the API; the world of their tests, besides, rules and orchestration. It needs only the packages in
///   `packagesOfApps`: neither PostgreSQL nor a server comes with it.
/// - Of other packages, everything that not all apps need has the trait `Server` or `GRPC`, so that an app that
///   leaves it out resolves none of it.
/// - Rules are pure: a target in a folder `Rules` knows contracts and the vocabulary, so it can't reach PostgreSQL or the bus.
/// - What a file imports is declared in `Package.swift`.
/// - A target that a product is made of has the package's name in its own: SwiftPM refuses an app that has a target of the same
///   name, whether or not it uses the product.
struct PackageGraph: Sendable {
    /// A target as the manifest has it, with what its files say.
    struct Target: Sendable, Hashable {
        /// Also its module's name, unless there is a dash in it.
        var name: String
        /// Its folder in the package, such as `Services/Contacts`.
        var path: String
        /// The targets of this package that it declares.
        var dependencies: Set<String>
        /// The other packages that it declares.
        var packages: Set<String> = []
        /// Those of which it declares something whether or not the package's trait is on.
        var packagesWithoutTrait: Set<String> = []
        var files: [File] = []
    }

    /// A source file; its path is the one in the package.
    struct File: Sendable, Hashable {
        var path: String
        var text: String
    }

    /// A law that is broken.
    struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The target or line, and the law.
        let description: String
    }

    /// The folder of the one service that may know the others' contracts.
    static let knowsAllContracts = "SessionClient"

    /// The packages that apps resolve besides this one.
    static let packagesOfApps: Set = ["swift-crypto"]

    /// And those of apps that keep state on the device.
    static let packagesOfStorage: Set = ["GRDB.swift"]

    /// And those of apps that speak gRPC, which need the trait of this name.
    static let packagesOfGRPC: Set = [
        "grpc-swift-2", "grpc-swift-nio-transport", "grpc-swift-protobuf", "swift-protobuf",
    ]

    /// And those of apps on Linux, which need the trait AsyncHTTP.
    static let packagesOfAsyncHTTP: Set = ["async-http-client", "swift-nio", "swift-nio-ssl"]

    private static func packages(of target: Target) -> Set<String> {
        if target.isBelow("Shared/Client/Storage") { return packagesOfApps.union(packagesOfStorage) }
        if target.isBelow("Shared/Client/AsyncHTTP") { return packagesOfApps.union(packagesOfAsyncHTTP) }
        if target.isBelow("Shared/Client/Terminal") {
            return packagesOfApps.union(packagesOfStorage).union(packagesOfAsyncHTTP)
        }
        if target.isBelow("Shared/Client/GRPC") { return packagesOfApps.union(packagesOfGRPC) }
        return packagesOfApps
    }

    var targets: [Target]
    /// The names of the targets that products list.
    var published: Set<String> = []

    /// Everything that breaks a law, in the order of the targets.
    var violations: [Violation] {
        let byName = Dictionary(targets.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let byModule = Dictionary(targets.map { ($0.module, $0) }, uniquingKeysWith: { first, _ in first })
        let services = Set(targets.compactMap(\.service))
        var found: [Violation] = []
        for target in targets {
            let reached = target.closure(in: byName)
            for other in published.contains(target.name)
                ? reached.union([target]).sorted(by: { $0.name < $1.name }) : []
            where !other.name.hasPrefix("Quartet") {
                found.append(
                    Violation(
                        description:
                            "\(other.path): \(other.name) is a part of a product, by \(target.name): no app could have a target of this name"
                    ))
            }
            if target.isBelow("Shared/Client") {
                let allowed = Self.packages(of: target)
                for other in reached.union([target]).sorted(by: { $0.name < $1.name }) {
                    for package in other.packages.subtracting(allowed).sorted() {
                        found.append(
                            Violation(
                                description:
                                    "\(target.path): \(target.name) needs \(package), by \(other.name): apps don't"))
                    }
                }
            }
            let ofApps = Self.packagesOfApps.union(Self.packagesOfStorage)
            for package in target.packagesWithoutTrait.subtracting(ofApps).sorted() {
                found.append(
                    Violation(
                        description:
                            "\(target.path): \(target.name) needs \(package) without a trait: apps would resolve it"
                    ))
            }
            for other in reached.sorted(by: { $0.name < $1.name }) {
                if let law = target.law(against: other) {
                    found.append(
                        Violation(description: "\(target.path): \(target.name) depends on \(other.name): \(law)"))
                }
            }
            for file in target.files where file.path.hasSuffix(".swift") {
                for (line, module) in file.imports {
                    let place = "\(file.path):\(line)"
                    if let law = target.law(against: module, in: file) {
                        found.append(Violation(description: "\(place): \(target.name) imports \(module): \(law)"))
                    }
                    guard let other = byModule[module], other.name != target.name else { continue }
                    if let law = target.law(against: other) {
                        found.append(Violation(description: "\(place): \(target.name) imports \(module): \(law)"))
                    }
                    if !target.dependencies.contains(other.name) {
                        found.append(
                            Violation(
                                description:
                                    "\(place): \(target.name) imports \(module) without declaring it in Package.swift"))
                    }
                }
            }
            if target.isBelow("Shared/Bus") {
                for file in target.files {
                    for (line, word) in file.words(in: services) {
                        found.append(
                            Violation(
                                description: "\(file.path):\(line): the bus knows no service, but this says '\(word)'"))
                    }
                }
            }
        }
        return found
    }
}

extension PackageGraph.Target {
    var module: String { name.replacing("-", with: "_") }

    /// The service that it belongs to: `Contacts` for a target below `Services/Contacts`.
    var service: String? {
        let folders = path.split(separator: "/")
        return folders.count >= 2 && folders[0] == "Services" ? String(folders[1]) : nil
    }

    /// The service whose contract it is: `Contacts` for a target below `Shared/Contracts/Contacts`.
    var contract: String? {
        let folders = path.split(separator: "/")
        guard folders.count >= 3, folders[0] == "Shared", folders[1] == "Contracts", folders[2] != "Support" else {
            return nil
        }
        return String(folders[2])
    }

    /// Whether it has a service's rules.
    var isRules: Bool { path.hasSuffix("/Rules") }

    /// Whether it has messages that services exchange, or what contracts have in common.
    var isContract: Bool { isBelow("Shared/Contracts") || path.hasSuffix("/Contract") }

    func isBelow(_ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder + "/")
    }

    /// Everything that it can reach by declared dependencies.
    func closure(in targets: [String: Self]) -> Set<Self> {
        var reached: Set<Self> = []
        var open = Array(dependencies)
        while let name = open.popLast() {
            guard let next = targets[name], reached.insert(next).inserted else { continue }
            open += next.dependencies
        }
        reached.remove(self)
        return reached
    }

    /// The folders of what Storage may know.
    private static let belowStorage: Set = ["Shared/CLibpq", "Shared/Postgres", "Shared/Vocabulary"]

    private var isBelowAPI: Bool { isContract || isBelow("Shared/Vocabulary") }

    /// The law that forbids a file to import a module of another package, if one does.
    func law(against module: String, in file: PackageGraph.File) -> String? {
        let transports = [("HTTP", ["Hummingbird", "HTTPTypes", "NIOHTTP"]), ("GRPC", ["GRPC", "SwiftProtobuf"])]
        let transport = transports.first { $0.1.contains { module.hasPrefix($0) } }?.0
        if let transport, service == PackageGraph.knowsAllContracts,
            !file.path.hasPrefix("Services/SessionClient/\(transport)/")
        {
            return "of session-client, \(transport) alone knows \(transport)"
        }
        if transport != nil || module.hasPrefix("NIO"),
            isBelow("Shared/API") && !isBelow("Shared/API/Proto") || isBelow("Services/SessionClient/Orchestration")
        {
            return "it is for every transport"
        }
        return nil
    }

    /// The law that forbids it to know `other`, if one does.
    func law(against other: Self) -> String? {
        if let service {
            if let stranger = other.service, stranger != service {
                return "services are strangers to each other"
            }
            if let stranger = other.contract, stranger != service, service != PackageGraph.knowsAllContracts {
                return "only \(PackageGraph.knowsAllContracts) knows the contracts of other services"
            }
        }
        if isRules, !other.isBelowAPI {
            return "rules are pure: they know a contract and the vocabulary"
        }
        // The world of apps' tests runs the services' own rules.
        if isBelow("Shared/Client/Testing"), other.isRules || other.isBelow("Services/SessionClient/Orchestration") {
            return nil
        }
        if isBelow("Shared"), let service = other.service {
            return "shared code is below the services, and \(service) is one"
        }
        if isBelow("Shared/Storage"), !Self.belowStorage.contains(other.path) {
            return "storage knows PostgreSQL and the vocabulary"
        }
        if isBelow("Shared/Bus"), other.isBelow("Shared/Storage") {
            return "the bus knows no tables but its own"
        }
        if isBelow("Shared/Bus"), other.contract != nil {
            return "the bus knows no service"
        }
        if isBelow("Shared/API"), !other.isBelowAPI {
            return "the API knows contracts and the vocabulary"
        }
        if isBelow("Shared/Client"), !other.isBelowAPI, !other.isBelow("Shared/API"), !other.isBelow("Shared/Client") {
            return "the client knows the API, contracts and the vocabulary"
        }
        if isBelow("Services/SessionClient/Orchestration"), !other.isBelowAPI, !other.isBelow("Shared/API") {
            return "orchestration knows contracts, the API and the vocabulary"
        }
        if let contract, let stranger = other.contract, stranger != contract {
            return "contracts are strangers to each other"
        }
        return nil
    }
}

extension PackageGraph.File {
    /// The modules that it imports, with the numbers of the lines.
    var imports: [(line: Int, module: String)] {
        lines.compactMap { number, text in
            let words = text.split(whereSeparator: \.isWhitespace)
            guard let keyword = words.firstIndex(of: "import"),
                words[..<keyword].allSatisfy({ $0.hasPrefix("@") || Self.accessLevels.contains($0) }),
                var module = words[(keyword + 1)...].first
            else { return nil }
            if Self.kinds.contains(module), let next = words[(keyword + 2)...].first { module = next }
            return (number, String(module.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
        }
    }

    /// Where one of `services` is named, as a word of its own in Swift's or SQL's spelling.
    func words(in services: Set<String>) -> [(line: Int, word: String)] {
        // `session` alone is also PostgreSQL's word for a connection, so only its quoted, qualified or type form counts.
        let names = services.flatMap { name -> [String] in
            let snake = name.reduce(into: "") { result, letter in
                if letter.isUppercase && !result.isEmpty { result += "_" }
                result += letter.lowercased()
            }
            return name == "Session" ? ["\"\(snake)\"", "'\(snake)'", "\(snake).log"] : [name, snake]
        }
        return lines.flatMap { number, text in
            names.filter { name in
                text.ranges(of: name).contains { range in
                    let before = text[..<range.lowerBound].last
                    let after = text[range.upperBound...].first
                    return before?.isWordCharacter != true && after?.isWordCharacter != true
                }
            }.map { (number, $0) }
        }
    }

    private var lines: [(Int, Substring)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, $1) }
    }

    private static let accessLevels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]
}

extension Character {
    fileprivate var isWordCharacter: Bool { isLetter || isNumber || self == "_" }
}
