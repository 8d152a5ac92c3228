import EdgeClient
import Foundation
import TestKit

extension Quartet {
    /// Signs someone up whose name is the handle, capitalised.
    func signUp(_ handle: String) async throws -> Device {
        try await Device.signUp(handle, name: handle.capitalized, at: edge)
    }

    func signUp(_ one: String, _ other: String) async throws -> (Device, Device) {
        (try await signUp(one), try await signUp(other))
    }

    func signUp(_ one: String, _ two: String, _ three: String) async throws -> (Device, Device, Device) {
        (try await signUp(one), try await signUp(two), try await signUp(three))
    }
}

extension Device {
    /// This account's notifications, newest first.
    func notifications(unread: Bool = false) async throws -> [JSON] {
        try await read("/v1/notifications?limit=200\(unread ? "&unread=true" : "")")["notifications"].array
    }

    /// Their kinds.
    func kinds(unread: Bool = false) async throws -> [String] {
        try await notifications(unread: unread).compactMap { $0["kind"].string }
    }

    /// How many notifications are unread.
    func unread() async throws -> Int64? { try await read("/v1/notifications")["unread"].int }

    /// Waits until a notification of a kind is in the history.
    func wait(toHear kind: String) async throws {
        try await wait("for a notification \(kind)") { $0["kind"].string == kind }
    }

    /// Waits until a notification like this is in the history.
    func wait(_ what: String, until isMeant: (JSON) -> Bool) async throws {
        for _ in 0..<6000 {
            if try await notifications().contains(where: isMeant) { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut("waited two minutes \(what); there are \(try await kinds())")
    }

    /// The card of a contact.
    func card(of other: Device) async throws -> JSON { try await read("/v1/contacts/\(other.account)") }

    /// This account's contact code.
    func code() async throws -> String { try await read("/v1/contacts")["code"].string ?? "" }

    /// Adds another device's account by its code.
    @discardableResult
    func add(
        _ other: Device, isMyResponder: Bool = false, iAmResponder: Bool = true, key: String? = nil
    ) async throws -> JSON {
        try await act(
            "AddContact",
            [
                "code": .string(try await other.code()), "isMyResponder": .bool(isMyResponder),
                "iAmResponder": .bool(iAmResponder),
            ], key: key)
    }

    /// Pings a contact.
    func ping(_ other: Device) async throws { try await act("SendPing", ["contact": .string(other.account)]) }
}

extension EdgeClient {
    /// Asks so many times at once that a busy machine, too, is faster than what a limit lets in again, until one is too many.
    /// - Parameter expected: The statuses of the requests that aren't too many.
    /// - Returns: The answer to one that is.
    /// - Throws: ``Unexpected`` for an answer that is neither.
    static func untilTooMany(
        atOnce count: Int, otherwise expected: Set<Int> = [200, 202, 204],
        _ ask: @Sendable @escaping () async throws -> Reply
    ) async throws -> Reply {
        for _ in 0..<100 {
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<count { group.addTask { try await ask() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            if let other = replies.first(where: { $0.status != 429 && !expected.contains($0.status) }) {
                throw Unexpected(other)
            }
            if let refused = replies.first(where: { $0.status == 429 }) { return refused }
        }
        throw TimedOut("\(100 * count) requests were not too many")
    }
}

extension JSON {
    /// The same object with one more field.
    func adding(_ name: String, _ value: JSON) -> JSON {
        guard case .object(var fields) = self else { return self }
        fields[name] = value
        return .object(fields)
    }
}
