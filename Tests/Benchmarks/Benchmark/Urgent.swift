import EdgeClient
import Foundation
import QuartetAPI
import QuartetAsyncHTTP
import QuartetClient
import QuartetStorage
import QuartetVocabulary
import TestKit

import struct EdgeClient.Device

/// How soon the server has accepted something urgent that somebody did behind a thousand changes while there was no network, from
/// when there is one again: with default limits, an app as people have it, and its store on the disk.
extension ProductBenchmark {
    /// Each has two rounds.
    private static var people: Int { 10 }

    func urgent(_ report: inout Report) async throws {
        let bob = try await Device.signUp("bob", name: "Bob", at: edge)
        let code = try await bob.read("/v1/contacts")["code"]
        var rounds: [UrgentRound] = []
        for number in 0..<Self.people {
            let anna = try await Device.signUp("anna-\(number)", name: "Anna", at: edge)
            try await anna.act("AddContact", ["code": code, "isMyResponder": true])
            // A thousand requests to become contacts, at the pace that the server allows, take longer than all the rest.
            try server.psql(
                "quartet", UrgentApp.statements(of: anna.account, like: bob.account).flatMap { ["-c", $0] })
            // A person checks in once in five minutes.
            let commands: [UrgentRound.Command] =
                number.isMultiple(of: 2) ? [.raiseAlert, .checkIn] : [.checkIn, .raiseAlert]
            rounds += try await UrgentApp.with("anna-\(number)", anna, port: port) { app in
                var rounds: [UrgentRound] = []
                // The second time, other commands have used up what the account may send.
                for (command, isSpent) in zip(commands, [false, true]) {
                    let round = try await app.round(command, isSpent: isSpent)
                    let (time, limit) = (FigureTable.number(round.milliseconds), isSpent ? ", at the rate limit" : "")
                    say("\(command.rawValue) accepted after \(time) ms\(limit)")
                    rounds.append(round)
                }
                return rounds
            }
        }
        let times = rounds.map(\.milliseconds).sorted()
        report.add("urgent_accepted_p50_ms", times.percentile(0.5))
        report.add("urgent_accepted_max_ms", times.percentile(1), aim: "<= 500")
        let spent = rounds.filter(\.isSpent).map(\.milliseconds).sorted()
        report.add("urgent_accepted_max_ms_at_rate_limit", spent.percentile(1), aim: "<= 500")
    }
}

/// One time that the network returned.
private struct UrgentRound: Sendable {
    enum Command: String, Sendable {
        case raiseAlert = "RaiseAlert"
        case checkIn = "CheckIn"
    }

    /// Whether the account had used up what it may send of other commands.
    let isSpent: Bool
    let milliseconds: Double
}

/// The app of somebody with many contacts, behind a network that can be away.
private struct UrgentApp: Sendable {
    /// How many changes wait, each of another contact: as many as an outbox takes, and as an account may have.
    private static let waiting = 1000

    let connection: Connection
    let quartet: Quartet
    let network: RoughNetwork
    /// Another device of the same account, on a network of its own.
    let device: Device

    static func with<Result: Sendable>(
        _ handle: String, _ device: Device, port: Int, _ body: @Sendable (Self) async throws -> Result
    ) async throws -> Result {
        let network = try RoughNetwork(to: UInt16(port), random: SeededRandom(seed: 0))
        defer { network.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        guard let url = URL(string: "http://127.0.0.1:\(network.port)") else { throw Failure("no URL of the network") }
        let connection = Connection(
            transport: HTTPTransport(asyncHTTP: url), tokens: FileTokenStore(folder.appending(path: "tokens")),
            store: try DatabaseStore(folder.appending(path: "store")))
        let app = Self(connection: connection, quartet: .live(connection), network: network, device: device)
        try await app.quartet.session.signIn(SignInRequest(handle: handle, password: "a long enough password"))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await connection.run() }
            defer { group.cancelAll() }
            try await withDeadline(.seconds(60), "the contacts") {
                let counts = app.quartet.contacts.contacts.values(of: \.count)
                for await count in counts where count == waiting { return }
            }
            return try await body(app)
        }
    }

    /// What gives somebody contacts enough, who aren't told what they do.
    /// - Parameter contact: The contact that they have.
    static func statements(of account: String, like contact: String) -> [String] {
        [
            Crowd.strangers(waiting - 1, of: account, like: contact),
            """
            UPDATE contacts.relation SET low_is_responder = low = '\(account)', high_is_responder = high = '\(account)'
             WHERE '\(account)' IN (low, high) AND '\(contact)' NOT IN (low, high)
            """,
            "ANALYZE contacts.account, contacts.relation",
        ]
    }

    /// Takes the network away, has so many changes wait and then something urgent, and gives the network back.
    func round(_ command: UrgentRound.Command, isSpent: Bool) async throws -> UrgentRound {
        network.stop()
        for await state in connection.states where !state.isConnected { break }
        try await fill(with: command.rawValue)
        let events = connection.outbox.events
        switch command {
        case .raiseAlert: try await keep(quartet.user.raiseAlert)
        case .checkIn: try await keep(quartet.user.checkIn)
        }
        let items = connection.outbox.items.value
        // An answer to what the round before sent may come late, so a few may be gone by now.
        guard waiting >= Self.waiting - 10, items.last?.command == command.rawValue else {
            throw Failure("\(items.count) changes wait, of which \(waiting) aren't urgent")
        }
        if isSpent { try await spend() }

        let begun = ContinuousClock.now
        try network.start()
        // As the system says it to apps that it tells of networks.
        connection.networkChanged()
        return try await withDeadline(.seconds(60), command.rawValue) {
            for await event in events where event.item.command == command.rawValue {
                if let error = event.error { throw Failure("\(command.rawValue) was answered with \(error)") }
                return UrgentRound(isSpent: isSpent, milliseconds: (ContinuousClock.now - begun).milliseconds)
            }
            throw CancellationError()
        }
    }

    private var waiting: Int { connection.outbox.items.value.count { $0.precedence != .urgent } }

    /// Edits contacts until there is a change of each that waits: two of one would become one.
    private func fill(with note: String) async throws {
        let contacts = quartet.contacts.contacts
        while waiting < Self.waiting {
            let lanes = Set(connection.outbox.items.value.map(\.lane))
            for id in contacts.ids where !lanes.contains("\(Sending.Topic.contact.rawValue)/\(id)") {
                guard let contact = contacts.contact(by: id) else { throw Failure("a contact is gone") }
                let base = ContactFields(contact)
                var edit = base
                edit.notes = note
                let change = Edit(base: base, edit: edit)
                try await keep { () async throws(QuartetError) in try await quartet.contacts.update(id, change) }
            }
        }
    }

    /// A change that waits.
    private func keep(_ change: () async throws(QuartetError) -> Void) async throws {
        do throws(QuartetError) { try await change() } catch {
            guard error.isPending else { throw error }
            return
        }
        throw Failure("a change was accepted without a network")
    }

    /// Sends commands of no consequence until the account may send no more.
    private func spend() async throws {
        var reply: EdgeClient.Reply
        repeat { reply = try await device.ask("SetContactApproval", ["isRequired": false]) } while reply.isSuccess
        guard reply.body["code"] == "tooManyCommands" else { throw Failure("the limit is answered with \(reply)") }
    }
}
