import Foundation
import QuartetClient
import QuartetStorage

/// An app that counts in its profile, for tests that kill it: each number is one change, based on the one before it.
///
/// It says `did N` when the change is accepted or kept, `finished` when the server has accepted all of them, and stops at what can't
/// be true.
@main
struct OfflineApp {
    static func main() async {
        do { try await run() } catch {
            say("failed: \(error)")
            exit(1)
        }
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let url = URL(string: arguments[1]), let count = Int(arguments[4]) else {
            print("usage: offline-app URL FOLDER HANDLE COUNT")
            exit(2)
        }
        let folder = URL(filePath: arguments[2])
        let connection = Connection(
            transport: HTTPTransport(url), tokens: FileTokenStore(folder.appending(path: "tokens")),
            store: try DatabaseStore(folder.appending(path: "store")), policy: .forever)
        let quartet = Quartet.live(connection)
        try await quartet.session.restore()
        if !quartet.session.session.isSignedIn {
            _ = try await quartet.session.signUp(
                SignUpRequest(handle: arguments[3], password: "correct horse battery", name: "Anna"))
        }
        try await withThrowingTaskGroup { group in
            group.addTask { await connection.run() }
            try await act(quartet, connection, upTo: count)
            group.cancelAll()
        }
    }

    private static func act(_ quartet: Quartet, _ connection: Connection, upTo count: Int) async throws {
        // At the very first start there is nothing on the device.
        for await account in quartet.user.user.values(of: \.account) where account != nil { break }
        while number(quartet) < count {
            let (profile, next) = (quartet.user.user.profile, number(quartet) + 1)
            var edited = profile
            edited.emergencyNote = "\(next)"
            do throws(QuartetError) {
                try await quartet.user.updateProfile(Edit(base: profile, edit: edited))
            } catch {
                guard error.isPending else { throw error }
            }
            guard number(quartet) == next else {
                say("a change is gone: there is \(number(quartet)) instead of \(next)")
                exit(1)
            }
            say("did \(next)")
        }
        for await items in connection.outbox.items.values where items.isEmpty { break }
        say("finished")
    }

    private static func number(_ quartet: Quartet) -> Int { Int(quartet.user.user.emergencyNote) ?? 0 }

    /// At once: it may be killed any moment.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }
}
