import EdgeClient
import Foundation
import RawClient
import TestKit
import Testing

// Streams, uploads and downloads.

extension EarlierSystemsTests {
    @Test(
        "everything done right after a stream began arrives in it; others said \"subscribed\" before it was true (T13)")
    func earlySubscription() async throws {
        try await Quartet.with { quartet in
            try await quartet.announceEveryAlert()
            let anna = try await quartet.signUp("anna")
            for round in 1...40 {
                let isOdd = round % 2 == 1
                let note = "note \(round)"
                let sees = try await LiveView.open(anna)
                async let profile = anna.act(
                    "UpdateProfile", ["expectedVersion": .int(Int64(round)), "emergencyNote": .string(note)])
                async let approval = anna.act("SetContactApproval", ["isRequired": .bool(isOdd)])
                async let alert = anna.act(isOdd ? "RaiseAlert" : "ClearAlert")
                async let operation = anna.operate("ClearAllReceivedPings")
                _ = try await (profile, approval, alert, operation)
                try await sees.wait("\(note) in session") {
                    $0.name == "account.event" && $0.data["body"]["emergencyNote"].string == note
                }
                try await sees.wait("the choice of round \(round) in contacts") {
                    $0.name == "contacts.event" && $0.data["body"]["isRequired"] == .bool(isOdd)
                }
                try await sees.wait(notification: isOdd ? "alertRaised" : "alertCleared")
                try await sees.wait("OperationEnded", in: "operations")
                await sees.close()
            }
        }
    }

    @Test(
        """
        pictures go up and down while other uploads are stuck midway; one stuck upload once blocked all downloads \
        (R10)
        """)
    func stuckUpload() async throws {
        try await Quartet.with { quartet in
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let bob = try await quartet.signUp("bob")
            try await bob.add(phone)
            let port = try await quartet.edgePort()
            let (half, rest) = (Array(Self.picture.prefix(35)), Array(Self.picture.dropFirst(35)))
            var (begun, stuck) = (ContinuousClock.now, [RawConnection]())
            for _ in 0..<3 {
                stuck.append(try Self.beginUpload(half, phone, port))
            }

            for device in [tablet, bob] {
                let uploaded = try await EdgeClient.untilFinal {
                    try await device.edge.send(
                        "PUT", "/v1/account/avatar", raw: Self.picture, token: device.token,
                        headers: ["content-type": "image/png"])
                }
                #expect([200, 204].contains(uploaded.status), "\(uploaded)")
            }
            try await Self.expectPictures(tablet, bob, port)
            // One that breaks off in the middle changes nothing; one that goes on is done.
            stuck[0].breakOff()
            try await Self.expectPictures(tablet, bob, port)
            var (slow, other, isDone) = (stuck[1], stuck[2], false)
            for attempt in 0..<4 where !isDone {
                if attempt > 0 {
                    // The server gives this one up as well, and then there is room for two.
                    _ = try? await other.rest()
                    (begun, other) = (.now, try Self.beginUpload(half, phone, port))
                    slow = try Self.beginUpload(half, phone, port)
                    try await Self.expectPictures(tablet, bob, port)
                }
                isDone = try await Self.goOn(slow, rest, begun: begun)
            }
            #expect(isDone, "four uploads were given up")
            try await Self.expectPictures(tablet, bob, port)
        }
    }

    /// Begins to send a picture.
    private static func beginUpload(_ half: [UInt8], _ device: Device, _ port: UInt16) throws -> RawConnection {
        let upload = try RawConnection(port: port)
        let headers = ["content-type: image/png", "content-length: \(picture.count)"]
        try upload.send(RawConnection.request("PUT", "/v1/account/avatar", device, headers))
        try upload.send(half)
        return upload
    }

    /// Sends the rest of a picture.
    /// - Returns: Whether it was taken; false if its ten seconds were over, after which a body this slow is given up. On a busy
    ///   machine, that may be while the test has done nothing yet.
    /// - Throws: when it was given up before, or refused.
    private static func goOn(
        _ upload: RawConnection, _ rest: [UInt8], begun: ContinuousClock.Instant
    ) async throws -> Bool {
        do {
            try upload.send(rest)
            let reply = try await upload.reply()
            if reply.status == 408 { return false }
            guard [200, 204].contains(reply.status) else { throw Unexpected("an answer \(reply.status)") }
            return true
        } catch let error as RawConnection.Broken {
            guard ContinuousClock.now - begun >= .seconds(10) else { throw error }
            return false
        }
    }

    /// A PNG of one pixel.
    private static let picture = Array(
        Data(
            base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
                + "rkJggg==") ?? Data())

    /// Anna's picture is to be had by herself and by Bob, whose contact she is.
    private static func expectPictures(_ anna: Device, _ bob: Device, _ port: UInt16) async throws {
        for (device, path) in [
            (anna, "/v1/account/avatar"), (bob, "/v1/account/avatar"), (bob, "/v1/contacts/\(anna.account)/avatar"),
        ] {
            let download = try RawConnection(port: port)
            try download.send(RawConnection.request("GET", path, device))
            let reply = try await download.reply()
            #expect(reply.status == 200 && reply.body == picture, "\(path): \(reply.status)")
        }
    }

    @Test(
        """
        a client that resumes from what isn't kept any more is told to start again, never left with a silent gap \
        (T13)
        """)
    func silentlyForgotten() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let sees = try await LiveView.open(anna)
            let place = try #require(sees.lastEventID)
            await sees.close()
            var codes: [JSON] = []
            for _ in 0..<3 { codes.append(try await anna.act("ResetContactCode")["code"]) }
            let last = codes[2]
            try await quartet.waitUntilQuiet()

            // While it is kept, the stream goes on exactly there.
            let resumed = try await LiveView.open(anna, after: place)
            try await resumed.wait("the last of three changes") { $0.data["body"]["code"] == last }
            let changes = resumed.all.filter { $0.data["type"] == "ContactCodeReset" }.map { $0.data["body"]["code"] }
            #expect(changes == codes)
            #expect(resumed.all.contains { $0.name == "contacts.resumed" })
            await resumed.close()

            // As retention does a month later: the newest row of each partition stays.
            _ = try await quartet.psql("UPDATE contacts.log SET recorded_at = recorded_at - interval '40 days'")
            let forgotten = try await quartet.psql(
                "SELECT sum(contacts.log_delete_old(p.partition, 1000)) FROM contacts.log_partition AS p")
            #expect((Int(forgotten) ?? 0) > 0)

            let again = try await LiveView.open(anna, after: place)
            let beginning = try #require(again.all.first { $0.name.hasPrefix("contacts.") })
            #expect(beginning.name == "contacts.snapshot" && beginning.data["refetched"] == true)
            #expect(beginning.data["state"]["code"] == last, "nothing of it is lost")
            for stream in ["account", "notifications", "operations"] {
                #expect(again.all.contains { $0.name == "\(stream).resumed" }, "\(stream) has forgotten nothing")
            }
            // And from here on it is whole again.
            try await anna.act("ResetContactCode")
            try await again.wait("ContactCodeReset", in: "contacts")
            await again.close()
        }
    }

    @Test("streams that broke off without a word give their places back")
    func unnoticedDrop() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let port = try await quartet.edgePort()
            var streams: [RawConnection] = []
            for _ in 0..<16 {
                let stream = try RawConnection(port: port)
                try stream.send(RawConnection.request("GET", "/v1/stream", anna))
                let status = try await stream.status()
                #expect(status == 200)
                streams.append(stream)
            }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            for stream in streams { stream.breakOff() }
            // All of them: as many as there may be.
            var views: [LiveView] = []
            for _ in 0..<16 { views.append(try await LiveView.openWhenThereIsRoom(anna)) }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            try await anna.act("RaiseAlert")
            for view in views {
                try await view.wait("AlertRaised", in: "account")
                await view.close()
            }
        }
    }
}
