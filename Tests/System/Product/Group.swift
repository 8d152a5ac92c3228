import EdgeClient
import TestKit
import Testing

/// A group session, as its people use it over HTTP.
struct Group: Sendable {
    let id: String

    /// Creates one of an activity, whose creator is its host.
    static func create(
        by host: Device, activity: String = "org.example.four", seats: Int64 = 5, capacity: Int64 = 8,
        isOpenToContacts: Bool = false
    ) async throws -> Group {
        let created = try await host.act(
            "CreateGroupSession",
            [
                "activity": [
                    "identifier": .string(activity), "type": "generic", "title": "Four in a row",
                    "payload": ["board": [1, 2]],
                ],
                "seats": .int(seats), "capacity": .int(capacity), "isOpenToContacts": .bool(isOpenToContacts),
            ])
        return Group(id: try #require(created["group"].string))
    }

    /// Sends a command about it that must be accepted, and returns its result.
    @discardableResult
    func act(_ device: Device, _ command: String, _ body: JSON = [:]) async throws -> JSON {
        try await device.act(command, body.adding("group", .string(id)))
    }

    /// Sends a command about it, and returns the answer, whatever it is.
    func ask(
        _ device: Device, _ command: String, _ body: JSON = [:], key: String? = nil
    ) async throws -> EdgeClient.Reply {
        try await device.ask(command, body.adding("group", .string(id)), key: key)
    }

    /// Invites contacts of the host.
    func invite(_ devices: Device..., by host: Device) async throws {
        try await act(host, "ActivateGroupSession", ["contacts": .array(devices.map { .string($0.account) })])
    }

    /// The state, as a device reads it.
    func state(by device: Device) async throws -> JSON { try await device.read("/v1/groups/\(id)") }

    /// Sends a GET to it or beneath it.
    func get(
        _ device: Device, _ path: String = "", headers: [String: String] = [:]
    ) async throws -> EdgeClient.Reply {
        try await device.edge.send("GET", "/v1/groups/\(id)\(path)", token: device.token, headers: headers)
    }
}

extension Device {
    /// The sessions that this account is in or may join: their ids and how it stands to them.
    func offers(open: Bool = false) async throws -> [String: JSON] {
        let groups = try await read("/v1/groups\(open ? "?open=true" : "")")["groups"].array
        return Dictionary(uniqueKeysWithValues: groups.map { ($0["group"].string ?? "", $0) })
    }

    /// What this account was told of a session besides invitations, newest first: kinds and the accounts that they are about.
    func news(of group: Group) async throws -> [String] {
        let notifications = try await notifications().filter { $0["details"]["group"].string == group.id }
        return notifications.compactMap { one in
            guard let kind = one["kind"].string, kind != "groupInvitation" else { return nil }
            return "\(kind) \(one["subject"].string ?? "")"
        }
    }

    /// How many invitations to each session stand in the notifications.
    func invitations() async throws -> [String: Int] {
        let notifications = try await read("/v1/notifications?limit=200&category=group")["notifications"].array
        let standing = notifications.filter { $0["kind"] == "groupInvitation" && $0["cleared"] == .null }
        let groups = standing.compactMap { $0["details"]["group"].string }
        return Dictionary(groups.map { ($0, 1) }, uniquingKeysWith: +)
    }
}

extension Quartet {
    /// Nobody is missed or put out for want of a connection while a test runs that has none.
    func waitLongForPeopleWhoAreAway() async throws {
        _ = try await psql("UPDATE session.limits SET drop_notice = '1 minute', drop_grace = '5 minutes'")
    }
}
