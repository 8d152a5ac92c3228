import EdgeClient
import Foundation
import TestKit
import Testing

/// `notifications doctor`, which asks push services about the sender and pushes nothing.
@Suite("End to end: notifications doctor", .timeLimit(.minutes(60)))
struct PushDoctorTests {
    private static let subjects = ["database", "settings", "apns", "fcm", "web", "webhook", "outlets"]

    @Test(
        """
        the doctor says of each push service whether it accepts the sender, pushes nothing, doesn't call green what only a push \
        shows, and prints no secret (A14)
        """)
    func services() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session]) { quartet in
                let well = try await quartet.pushDoctor(environment: services.environment)
                #expect(well.subjects == Self.subjects && well.isHealthy, "\(well)")
                #expect(well.line("apns")?.hasPrefix("ok") == true, "\(well)")
                #expect(well.line("apns")?.contains("APNs answered 400 BadDeviceToken") == true, "\(well)")
                #expect(well.line("fcm")?.hasPrefix("ok") == true, "\(well)")
                let key = try services.text("vapid.pub")
                #expect(well.line("web")?.hasPrefix("?") == true && well.line("web")?.contains(key) == true, "\(well)")
                #expect(well.line("webhook")?.hasPrefix("?") == true, "\(well)")
                for service in ["apns", "fcm", "web"] { #expect(try services.requests(of: service).isEmpty) }
                #expect(try services.requests(of: "fcm doctor").map(\.["status"].int) == [200])
                for secret in ["PRIVATE KEY", "granted-", "earer "] {
                    #expect(!well.description.contains(secret), "\(well)")
                }

                // Another app's, another team's, a key that Google doesn't know, and none.
                let account = services.folder.appending(path: "other.json")
                try services.text("fcm.json").replacing("key-1", with: "key-2").write(
                    to: account, atomically: true, encoding: .utf8)
                for (variable, value, subject, word) in [
                    ("PUSH_APNS_TOPIC", "another.app", "apns", "TopicDisallowed"),
                    ("PUSH_APNS_TEAM", "OTHERTEAM1", "apns", "PUSH_APNS_TEAM"),
                    ("PUSH_APNS_URL", "https://localhost:9", "apns", "can't be asked"),
                    ("PUSH_FCM_ACCOUNT_FILE", account.path, "fcm", "PUSH_FCM_ACCOUNT_FILE"),
                    ("PUSH_WEB_KEY_FILE", account.path, "settings", "PUSH_WEB_KEY_FILE"),
                    ("PUSH_WEBHOOK_URL", "http://127.0.0.1:9/push", "webhook", "can't be reached"),
                ] {
                    let ill = try await quartet.pushDoctor(
                        environment: services.environment.merging([variable: value]) { $1 })
                    #expect(ill.wrong == [subject] && !ill.isHealthy, "\(variable): \(ill)")
                    #expect(ill.line(subject)?.contains(word) == true, "\(variable): \(ill)")
                }
                for service in ["apns", "fcm", "web"] { #expect(try services.requests(of: service).isEmpty) }
            }
        }
    }

    @Test(
        """
        the doctor calls wrong what doesn't answer as the push services do, and only what is out of order unknown; what they answer \
        can't repaint the terminal (A14)
        """)
    func answers() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session]) { quartet in
                let page = "<html>not here</html>"
                let unknown = #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#
                let painting = #"{"reason":"\u001b[2J\u009b2J\u202eok"}"#
                let place = "without a proxy in between"
                for (service, status, text, subject, start, words) in [
                    ("apns", 404, page, "apns", "WRONG", "PUSH_APNS_URL"), ("apns", 301, "", "apns", "WRONG", place),
                    ("apns", 200, "", "apns", "WRONG", place), ("apns", 400, page, "apns", "WRONG", place),
                    ("apns", 410, page, "apns", "WRONG", place), ("apns", 403, page, "apns", "WRONG", place),
                    ("apns", 400, painting, "apns", "WRONG", place),
                    ("apns", 403, #"{"reason":"InvalidProviderToken"}"#, "apns", "WRONG", "PUSH_APNS_KEY_ID"),
                    ("apns", 410, #"{"reason":"Unregistered"}"#, "apns", "ok", "it accepts the key"),
                    (
                        "apns", 429, #"{"reason":"TooManyProviderTokenUpdates"}"#, "apns", "?",
                        "TooManyProviderTokenUpdates"
                    ),
                    ("apns", 503, page, "apns", "?", "ask again later"),
                    ("apns", nil, "", "apns", "?", "none within five seconds"),
                    ("fcm", 404, page, "fcm", "WRONG", "PUSH_FCM_URL"), ("fcm", 301, "", "fcm", "WRONG", place),
                    ("fcm", 200, page, "fcm", "WRONG", place), ("fcm", 200, "{}", "fcm", "WRONG", place),
                    ("fcm", 200, #"{"name":"projects/another/messages/1"}"#, "fcm", "WRONG", place),
                    ("fcm", 429, unknown, "fcm", "?", "RESOURCE_EXHAUSTED"), ("fcm", 503, page, "fcm", "?", "later"),
                    ("token", 503, page, "fcm", "?", "answered 503"), ("token", 429, page, "fcm", "?", "answered 429"),
                    ("token", 200, page, "fcm", "WRONG", "PUSH_FCM_ACCOUNT_FILE"),
                    ("token", 404, page, "fcm", "WRONG", "answered 404"),
                ] as [(String, Int?, String, String, String, String)] {
                    try services.answer(service, status, text)
                    let found = try await quartet.pushDoctor(environment: services.environment)
                    let line = try #require(found.line(subject), "\(found)")
                    #expect(line.hasPrefix(start) && line.contains(words), "\(service) \(status ?? 0): \(line)")
                    #expect(found.wrong == (start == "WRONG" ? [subject] : []), "\(service) \(status ?? 0): \(found)")
                    #expect(
                        !line.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) })
                    try services.answerAsBefore(service)
                }
                for service in ["apns", "fcm", "web"] { #expect(try services.requests(of: service).isEmpty) }
            }
        }
    }

    @Test("a database without notifications' tables makes the doctor find outlets wrong, and no setting (A14)")
    func unmigrated() async throws {
        let receiver = PushReceiver { _, _ in 200 }
        try await receiver.listen {
            try await Quartet.with(services: [.session]) { quartet in
                _ = try await quartet.psql("ALTER TABLE notifications.push_device RENAME TO away")
                let found = try await quartet.pushDoctor(environment: receiver.environment)
                #expect(found.subjects == Self.subjects && found.wrong == ["outlets"], "\(found)")
                #expect(found.line("outlets")?.contains("push_device") == true, "\(found)")
                _ = try await quartet.psql("ALTER TABLE notifications.away RENAME TO push_device")
            }
        }
    }

    @Test("the doctor finds a webhook without pushing, and says where pushes reach nobody (A13, A14)")
    func webhook() async throws {
        let receiver = PushReceiver { _, _ in 200 }
        try await receiver.listen {
            try await Quartet.with(services: [.session]) { quartet in
                let well = try await quartet.pushDoctor(environment: receiver.environment)
                #expect(well.isHealthy && well.line("outlets")?.hasPrefix("ok") == true, "\(well)")
                #expect(well.line("webhook")?.hasPrefix("?") == true, "\(well)")
                #expect(well.line("webhook")?.contains("it answered 404") == true, "\(well)")
                #expect(receiver.received.value.isEmpty)

                let none = try await quartet.pushDoctor()
                #expect(none.wrong == ["outlets"] && !none.isHealthy, "\(none)")
                #expect(none.line("outlets")?.contains("an alarm reaches nobody") == true, "\(none)")

                let lost = receiver.environment.merging(["DATABASE_URL": "postgresql://127.0.0.1:9/none"]) { $1 }
                let apart = try await quartet.pushDoctor(environment: lost)
                #expect(apart.wrong == ["database"] && apart.line("outlets")?.hasPrefix("?") == true, "\(apart)")
            }
        }
    }
}

extension PushServices {
    /// What the doctor is answered from now on by `apns`, `fcm` or `token`; nothing at all without a status.
    fileprivate func answer(_ service: String, _ status: Int?, _ text: String) throws {
        try JSONEncoder().encode(Told(status: status, text: text)).write(to: answerFile(of: service), options: .atomic)
    }

    private struct Told: Encodable {
        let status: Int?
        let text: String
    }

    fileprivate func answerAsBefore(_ service: String) throws {
        try FileManager.default.removeItem(at: answerFile(of: service))
    }

    private func answerFile(of service: String) -> URL { folder.appending(path: "answer-\(service)") }
}

extension Quartet {
    /// Runs `notifications doctor`.
    fileprivate func pushDoctor(environment: [String: String] = [:]) async throws -> Doctor {
        let process = try await ChildProcess.start(
            Service.notifications.rawValue, ["doctor"],
            environment: ["DATABASE_URL": databaseURL].merging(environment) { $1 })
        let status = try await process.waitForExit()
        let doctor = Doctor(lines: process.lines(on: .output), isHealthy: status == .exited(0))
        await process.end()
        #expect(doctor.isHealthy == !doctor.lines.contains { $0.hasPrefix("WRONG") }, "\(status) after\n\(doctor)")
        return doctor
    }
}
