import Foundation
import TestKit
import Testing

@testable import package_graph

@Suite("The package graph")
struct PackageGraphTests {
    /// Two services, their contracts and what they share, as it should be.
    private static let good = [
        PackageGraph.Target(
            name: "Bus", path: "Shared/Bus", dependencies: ["Postgres"],
            files: [
                .init(
                    path: "Shared/Bus/Logs/Log.swift",
                    text: "import Postgres\n/// Ends the other session.\nlet contactsX = 1")
            ]),
        .init(name: "Postgres", path: "Shared/Postgres", dependencies: []),
        .init(name: "SessionContract", path: "Shared/Contracts/Session", dependencies: []),
        .init(name: "ContactsContract", path: "Shared/Contracts/Contacts", dependencies: []),
        .init(
            name: "Session", path: "Services/Session", dependencies: ["Bus", "SessionContract"],
            files: [.init(path: "Services/Session/Session.swift", text: "import Bus\npublic import SessionContract")]),
        .init(name: "Contacts", path: "Services/Contacts", dependencies: ["Bus", "ContactsContract"]),
        .init(name: "contacts", path: "Services/Contacts/Command", dependencies: ["Contacts"]),
        .init(
            name: "SessionClient", path: "Services/SessionClient",
            dependencies: ["Bus", "SessionContract", "ContactsContract"]),
    ]

    private func violations(after change: (inout [String: PackageGraph.Target]) -> Void) -> [String] {
        var targets = Dictionary(uniqueKeysWithValues: Self.good.map { ($0.name, $0) })
        change(&targets)
        return PackageGraph(targets: targets.values.sorted { $0.name < $1.name }).violations.map(\.description)
    }

    @Test("no target of this package breaks a law: session, contacts and notifications are strangers (S5)")
    func thisPackage() async throws {
        // Asking SwiftPM takes a second or two of waiting, which is not for a thread that other tests need.
        let graph = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try PackageGraph(package: Products.package) })
            }
        }
        #expect(graph.violations == [])
    }

    @Test("the good example breaks none")
    func good() {
        #expect(violations { _ in } == [])
    }

    @Test("a service can't depend on another")
    func serviceOnService() {
        let found = violations { $0["Contacts"]?.dependencies.insert("Session") }
        #expect(
            found.contains("Services/Contacts: Contacts depends on Session: services are strangers to each other"))
    }

    @Test("a service can't depend on another by a detour")
    func serviceOnServiceByDetour() {
        let found = violations {
            $0["Helpful"] = .init(name: "Helpful", path: "Services/Contacts/Helpful", dependencies: ["Session"])
            $0["Contacts"]?.dependencies.insert("Helpful")
        }
        #expect(
            found.contains("Services/Contacts: Contacts depends on Session: services are strangers to each other"))
    }

    @Test(
        "a service can't import another, whatever the import looks like",
        arguments: [
            "import Session", "@testable import Session", "internal import Session", "  import struct Session.Account",
            "@_exported public import class Session.Account", "import Session // why not",
        ])
    func importOfService(line: String) {
        let found = violations {
            $0["Contacts"]?.files = [.init(path: "Services/Contacts/A.swift", text: "import Bus\n\n\(line)\n")]
        }
        #expect(
            found == [
                "Services/Contacts/A.swift:3: Contacts imports Session: services are strangers to each other",
                "Services/Contacts/A.swift:3: Contacts imports Session without declaring it in Package.swift",
            ])
    }

    @Test("a service can't know another's contract; session-client can")
    func contract() {
        let found = violations { $0["Contacts"]?.dependencies.insert("SessionContract") }
        #expect(found.contains { $0.contains("only SessionClient knows the contracts of other services") })
    }

    @Test("storage knows PostgreSQL and the vocabulary alone, and the bus doesn't know storage")
    func storage() {
        let found = violations {
            $0["Storage"] = .init(
                name: "Storage", path: "Shared/Storage", dependencies: ["Postgres", "ContactsContract"])
            $0["Bus"]?.dependencies.insert("Storage")
        }
        #expect(
            found.filter { $0.contains("storage knows") } == [
                "Shared/Storage: Storage depends on ContactsContract: storage knows PostgreSQL and the vocabulary"
            ])
        #expect(found.contains("Shared/Bus: Bus depends on Storage: the bus knows no tables but its own"))
    }

    @Test("rules can't reach PostgreSQL or the bus, not even through another target (law 7)")
    func rules() {
        let rules = PackageGraph.Target(
            name: "ContactsRules", path: "Services/Contacts/Rules", dependencies: ["ContactsContract"])
        #expect(violations { $0["ContactsRules"] = rules } == [])
        let found = violations {
            $0["ContactsRules"] = rules
            $0["ContactsContract"]?.dependencies.insert("Bus")
        }
        for module in ["Bus", "Postgres"] {
            #expect(
                found.contains(
                    "Services/Contacts/Rules: ContactsRules depends on \(module): rules are pure: they know a contract and the vocabulary"
                ))
        }
    }

    @Test("shared code can't know a service")
    func sharedOnService() {
        let found = violations { $0["Bus"]?.dependencies.insert("Contacts") }
        #expect(found.contains { $0.contains("shared code is below the services") })
    }

    @Test(
        "the bus can't name a service, in Swift or in SQL",
        arguments: [
            "let table = \"contacts.log\"", "GRANT SELECT ON t TO session_client;", "// as in Contacts",
            "SELECT 'session'",
        ])
    func busNamesService(line: String) {
        let found = violations { $0["Bus"]?.files = [.init(path: "Shared/Bus/SQL/log.sql", text: "\(line)\n")] }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("Shared/Bus/SQL/log.sql:1: the bus knows no service") == true)
    }

    @Test(
        "of session-client, only the files in HTTP import HTTP, and those in GRPC gRPC; the API and the orchestration know no transport at all"
    )
    func transports() {
        let found = violations {
            $0["SessionClient"]?.files = [
                .init(
                    path: "Services/SessionClient/Actions/Commands.swift",
                    text: "import HTTPTypes\nimport Hummingbird\nimport GRPCCore"),
                .init(path: "Services/SessionClient/HTTP/Routes.swift", text: "import Hummingbird"),
                .init(path: "Services/SessionClient/GRPC/Calls.swift", text: "import GRPCCore\nimport SwiftProtobuf"),
            ]
            $0["API"] = .init(
                name: "API", path: "Shared/API", dependencies: ["Bus"],
                files: [.init(path: "Shared/API/Person.swift", text: "package import NIOCore")])
            $0["Orchestration"] = .init(
                name: "Orchestration", path: "Services/SessionClient/Orchestration",
                dependencies: ["API", "SessionContract"])
        }
        #expect(
            found.filter { $0.hasPrefix("Services/SessionClient/") && !$0.contains("depends") } == [
                "Services/SessionClient/Actions/Commands.swift:1: SessionClient imports HTTPTypes: of session-client, HTTP alone knows HTTP",
                "Services/SessionClient/Actions/Commands.swift:2: SessionClient imports Hummingbird: of session-client, HTTP alone knows HTTP",
                "Services/SessionClient/Actions/Commands.swift:3: SessionClient imports GRPCCore: of session-client, GRPC alone knows GRPC",
            ])
        #expect(found.contains("Shared/API/Person.swift:1: API imports NIOCore: it is for every transport"))
        #expect(found.contains("Shared/API: API depends on Bus: the API knows contracts and the vocabulary"))
        #expect(found.contains { $0.contains("Orchestration depends on Bus: orchestration knows contracts") })
    }

    @Test(
        "of what apps add, only what keeps state on a device needs GRDB; an app in this package knows no server, either"
    )
    func apps() {
        func found(_ path: String, dependencies: Set<String> = []) -> [String] {
            violations {
                $0["App"] = .init(name: "App", path: path, dependencies: dependencies, packages: ["GRDB.swift"])
            }
        }
        #expect(found("Shared/Client/Storage") == [] && found("Shared/Client/Terminal") == [])
        #expect(found("Shared/Client/QuartetClient").count == 1)
        let law = "the client knows the API, contracts and the vocabulary"
        #expect(found("Shared/Client/Terminal", dependencies: ["Bus"]).contains { $0.contains(law) })
    }

    @Test("what apps add reaches neither the bus nor a package that only the server needs, not even by a detour")
    func appsNeedNoServer() {
        let found = violations {
            $0["API"] = .init(name: "API", path: "Shared/API", dependencies: ["Vocabulary"])
            $0["Vocabulary"] = .init(
                name: "Vocabulary", path: "Shared/Vocabulary", dependencies: [],
                packages: ["swift-crypto", "swift-nio"])
            $0["QuartetClient"] = .init(
                name: "QuartetClient", path: "Shared/Client/QuartetClient", dependencies: ["API", "Bus"])
        }
        #expect(
            found == [
                "Shared/Client/QuartetClient: QuartetClient needs swift-nio, by Vocabulary: apps don't",
                "Shared/Client/QuartetClient: QuartetClient depends on Bus: the client knows the API, contracts and the vocabulary",
                "Shared/Client/QuartetClient: QuartetClient depends on Postgres: the client knows the API, contracts and the vocabulary",
            ])
    }

    @Test("the world of apps' tests knows rules and policies, and what apps run doesn't")
    func world() {
        let found = violations {
            $0["SessionRules"] = .init(name: "SessionRules", path: "Services/Session/Rules", dependencies: [])
            for (name, path) in [("Testing", "Shared/Client/Testing"), ("Client", "Shared/Client/QuartetClient")] {
                $0[name] = .init(name: name, path: path, dependencies: ["SessionRules"])
            }
        }
        #expect(
            found == [
                "Shared/Client/QuartetClient: Client depends on SessionRules: shared code is below the services, and Session is one"
            ])
    }

    @Test("apps resolve no package that only the server needs: all of those have the trait (R21)")
    func traits() throws {
        let found = violations { $0["Bus"]?.packagesWithoutTrait = ["swift-log", "swift-crypto"] }
        #expect(found == ["Shared/Bus: Bus needs swift-log without a trait: apps would resolve it"])
        let manifest = """
            {"targets": [{"name": "Bus", "path": "Shared/Bus", "dependencies": [
              {"byName": ["Postgres", null]}, {"product": ["Logging", "swift-log", null, null]},
              {"product": ["NIOCore", "swift-nio", null, {"platformNames": [], "traits": ["Server"]}]}]}]}
            """
        let graph = try PackageGraph(manifest: Data(manifest.utf8)) { _ in [] }
        #expect(graph.targets.map(\.packages) == [["swift-log", "swift-nio"]])
        #expect(graph.targets.map(\.packagesWithoutTrait) == [["swift-log"]])
    }

    @Test("a target that a product is made of has the package's name, so that apps keep theirs")
    func publishedNames() throws {
        let manifest = """
            {"products": [{"name": "QuartetClient", "targets": ["QuartetClient"]}], "targets": [
              {"name": "QuartetClient", "path": "Shared/Client/QuartetClient", "dependencies": [{"byName": ["API", null]}]},
              {"name": "API", "path": "Shared/API", "dependencies": []},
              {"name": "Games", "path": "Shared/Client/Games", "dependencies": []}]}
            """
        let graph = try PackageGraph(manifest: Data(manifest.utf8)) { _ in [] }
        #expect(
            graph.violations.map(\.description) == [
                "Shared/API: API is a part of a product, by QuartetClient: no app could have a target of this name"
            ])
    }

    @Test("an import that the manifest doesn't declare is found")
    func undeclaredImport() {
        let found = violations {
            $0["Contacts"]?.dependencies.remove("Bus")
            $0["Contacts"]?.files = [.init(path: "Services/Contacts/A.swift", text: "import Bus")]
        }
        #expect(found == ["Services/Contacts/A.swift:1: Contacts imports Bus without declaring it in Package.swift"])
    }
}
