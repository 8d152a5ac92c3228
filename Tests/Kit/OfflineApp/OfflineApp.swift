import Dispatch
import Foundation
import GRPCNIOTransportHTTP2Posix
import QuartetAsyncHTTP
import QuartetClient
import QuartetGRPC
import QuartetStorage
import TestKit

/// An app for tests that kill it, stop it, and take its network away. It says what it did, a line each, and stops at what can't be
/// true.
@main
struct OfflineApp {
    let connection: Connection
    let quartet: Quartet
    let store: DatabaseStore
    let handle: String
    private let place: Place

    /// What it counts in. Two processes on one store each have their own.
    enum Place { case emergencyNote, name }

    static func main() async {
        do { try await run() } catch {
            say("failed: \(error)")
            exit(1)
        }
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let url = URL(string: arguments[2]), let number = UInt64(arguments[5]) else {
            print("usage: offline-app count|some|names|live|watch|scopes URL FOLDER HANDLE NUMBER")
            exit(2)
        }
        let (folder, handle) = (URL(filePath: arguments[3]), arguments[4])
        switch arguments[1] {
        case "count": try await OfflineApp(url, folder, handle).count(upTo: Int(number))
        case "some": try await OfflineApp(url, folder, handle).count(times: Int(number))
        case "names": try await OfflineApp(url, folder, handle, in: .name).countUntilAsked()
        case "live": try await Life(OfflineApp(url, folder, handle), seed: number).run()
        case "watch": try await Life(OfflineApp(url, folder, handle), seed: nil).run()
        case "scopes": try await Scopes(url: url, handle: handle).run(Int(number))
        default: exit(2)
        }
    }

    private init(_ url: URL, _ folder: URL, _ handle: String, in place: Place = .emergencyNote) throws {
        let policy = ReconnectionPolicy(
            attempts: nil, initial: .milliseconds(100), maximum: .seconds(1), multiplier: 2)
        store = try DatabaseStore(folder.appending(path: "store"))
        connection = Connection(
            transport: try Self.transport(url), tokens: FileTokenStore(folder.appending(path: "tokens")),
            store: store, policy: policy)
        quartet = .live(connection)
        self.handle = handle
        self.place = place
    }

    /// `http://…` and `grpc://…`.
    static func transport(_ url: URL) throws -> any Transport {
        guard url.scheme == "grpc", let host = url.host(), let port = url.port else {
            return HTTPTransport(asyncHTTP: url)
        }
        return try GRPCTransport(host: host, port: port, security: .plaintext)
    }

    // MARK: Counting

    /// Counts in the profile: each number is one change, based on the one before it. It says `did N` when a change is accepted or
    /// kept, `accepted N` before that if it was accepted, and `finished` when the server has accepted all of them.
    private func count(upTo count: Int) async throws {
        try await counting { group in
            while number < count { try await next() }
            for await items in connection.outbox.items.values where items.isEmpty { break }
            Self.say("finished")
            group.cancelAll()
        }
    }

    /// Makes so many changes more, says `resting`, and runs on until it is killed. However late that comes, it doesn't get farther:
    /// later runs, too, have something to count.
    private func count(times count: Int) async throws {
        try await counting { group in
            for _ in 0..<count { try await next() }
            Self.say("resting")
            try await group.waitForAll()
        }
    }

    /// Makes one change after the other until SIGUSR1 comes, says `resting`, and runs on until it is killed.
    private func countUntilAsked() async throws {
        let isAsked = Observed(false)
        let source = await Life.watch(SIGUSR1, isAsked)
        defer { source.cancel() }
        try await counting { group in
            while !isAsked.value {
                try await next()
                // Somebody who types isn't faster.
                try await Task.sleep(for: .milliseconds(30))
            }
            Self.say("resting")
            try await group.waitForAll()
        }
    }

    private func counting(_ body: (inout ThrowingTaskGroup<Void, any Error>) async throws -> Void) async throws {
        try await quartet.session.restore()
        if !quartet.session.session.isSignedIn {
            _ = try await quartet.session.signUp(
                SignUpRequest(handle: handle, password: "correct horse battery", name: "Anna"))
        }
        try await withThrowingTaskGroup { group in
            group.addTask { await connection.run() }
            // At the very first start there is nothing on the device.
            for await account in quartet.user.user.values(of: \.account) where account != nil { break }
            try await body(&group)
        }
    }

    /// How far it has counted.
    var number: Int {
        switch place {
        case .emergencyNote: Int(quartet.user.user.emergencyNote) ?? 0
        case .name: Self.number(in: quartet.user.user.name ?? "")
        }
    }

    /// The digits of a number, in a name: that can't have any.
    private static let digits = Array("abcdefghij")

    private static func number(in name: String) -> Int {
        let digits = name.split(separator: " ").dropFirst().first ?? ""
        return digits.reduce(0) { $0 * 10 + (Self.digits.firstIndex(of: $1) ?? 0) }
    }

    private static func name(with number: Int) -> String {
        let letters = String(number).compactMap(\.wholeNumberValue).map { digits[$0] }
        return "Anna \(String(letters))"
    }

    /// Makes the next change.
    func next() async throws {
        let (profile, next) = (quartet.user.user.profile, number + 1)
        var edited = profile
        switch place {
        case .emergencyNote: edited.emergencyNote = "\(next)"
        case .name: edited.name = Self.name(with: next)
        }
        let isAccepted = try await Self.keeping {
            () async throws(QuartetError) in
            try await quartet.user.updateProfile(Edit(base: profile, edit: edited))
        }
        guard number == next else { Self.stop("a change is gone: there is \(number) instead of \(next)") }
        if isAccepted { Self.say("accepted \(next)") }
        Self.say("did \(next)")
    }

    /// Makes a change that may have to wait for a connection.
    /// - Returns: Whether it didn't have to.
    @discardableResult
    static func keeping(_ change: () async throws(QuartetError) -> Void) async throws(QuartetError) -> Bool {
        do throws(QuartetError) { try await change() } catch {
            guard error.isPending else { throw error }
            return false
        }
        return true
    }

    /// At once: it may be killed any moment.
    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    static func stop(_ reason: String) -> Never {
        say(reason)
        exit(1)
    }
}
