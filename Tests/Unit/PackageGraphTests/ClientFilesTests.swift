import TestKit
import Testing

@testable import package_graph

@Suite("The files of clients")
struct ClientFilesTests {
    private static let folder = "Shared/Client/QuartetClient/Clients/"
    private static let contacts = PackageGraph.File(
        path: folder + "ContactsClient.swift",
        text: """
            import Foundation

            /// Only ``ContactsClient`` makes one.
            public struct ReadOnlyContactsState: Hashable, Sendable {
                fileprivate init(_ copy: ContactsState?) {}
            }
            private final class ContactsCopy: KeptConsumer {
                let holder = ReplicaHolder<State, ReadOnlyContactsState> { ReadOnlyContactsState($0) }
            }
            public struct ContactsClient: Sendable {}
            extension ContactsClient {}
            """)
    private static let user = PackageGraph.File(
        path: folder + "UserClient.swift", text: "public struct UserClient: Sendable {}\nprivate enum UserEdit {}")

    private func violations(_ files: (path: String, text: String)...) -> [String] {
        ClientFiles(files: [Self.contacts, Self.user] + files.map { PackageGraph.File(path: $0.path, text: $0.text) })
            .violations
    }

    @Test("clients that hold their state in a file each break nothing")
    func good() {
        #expect(violations() == [])
        #expect(ClientFiles(files: []).violations == ["there are no clients in \(Self.folder)"])
    }

    @Test("a file that makes a client's state besides the client's own is found")
    func forgery() {
        let found = violations(
            ("Shared/Client/QuartetClient/Connection/Connection.swift", "// A\n    show(ReadOnlyContactsState(nil))\n"))
        #expect(
            found == [
                "Shared/Client/QuartetClient/Connection/Connection.swift:2: only ContactsClient's file makes a ReadOnlyContactsState"
            ])
    }

    @Test("a state that other files could make, because an initializer of it isn't private or there is none, is found")
    func makers() {
        for maker in ["", "    init(_ copy: Copy?) {}\n", "    init() {}\n    fileprivate init(_ copy: Copy?) {}\n"] {
            let text = "public struct ReadOnlyPingState {\n    let name: String\n\(maker)}\npublic struct PingClient {}"
            #expect(
                violations((Self.folder + "PingClient.swift", text)) == [
                    "\(Self.folder)PingClient.swift:1: other files could make a ReadOnlyPingState: its initializers must be private"
                ])
        }
    }

    @Test("a client that knows another, or all of them, is found; the one for signing in and out may")
    func acquaintances() {
        func found(_ name: String, _ text: String) -> [String] {
            let file = PackageGraph.File(
                path: "\(Self.folder)\(name).swift", text: "public struct \(name) {}\n// UserClient\n\(text)")
            return ClientFiles(files: [Self.contacts, Self.user, file]).acquaintances
        }
        for (word, text) in [
            ("UserClient", "let user: UserClient"), ("ReadOnlyContactsState", "func show(_: ReadOnlyContactsState?)"),
            ("Quartet", "let quartet: Quartet"),
        ] {
            #expect(
                found("PingClient", text) == [
                    "\(Self.folder)PingClient.swift:3: PingClient knows \(word): clients are strangers to each other"
                ])
            #expect(found("SessionClient", text) == [])
        }
        #expect(found("PingClient", "let users: QuartetUsers") == [])
    }

    @Test("two clients in a file, a client elsewhere, a part that other files could share, and a feature are found")
    func shared() {
        #expect(
            violations(
                (
                    Self.folder + "PingClient.swift",
                    "public import SwiftUI\npublic struct PingClient {}\npublic struct AlarmClient {}\nenum PingEdit {}"
                ),
                ("Shared/Client/QuartetClient/State/Commands.swift", "public struct LateClient: Sendable {}")) == [
                    "\(Self.folder)PingClient.swift:4: PingEdit is neither private nor for apps",
                    "\(Self.folder)PingClient.swift:1: a client needs no SwiftUI; features do",
                    "\(Self.folder)PingClient.swift:3: AlarmClient belongs into a file of its own in \(Self.folder)",
                    "Shared/Client/QuartetClient/State/Commands.swift:1: LateClient belongs into a file of its own in \(Self.folder)",
                ])
        #expect(
            violations((Self.folder + "GroupClient.swift", "import Foundation")) == [
                "\(Self.folder)GroupClient.swift: there is no GroupClient in it"
            ])
    }

    @Test(
        "each client of this package has a file, which alone makes what its readers see, and no feature is in it (S2)")
    func thisPackage() throws {
        let files = try ClientFiles(package: Products.package)
        #expect(files.violations == [])
        #expect(files.clients.count == 6)
    }

    @Test("no client of this package knows another but the one for signing in and out (S5)")
    func strangers() throws {
        #expect(try ClientFiles(package: Products.package).acquaintances == [])
    }
}
