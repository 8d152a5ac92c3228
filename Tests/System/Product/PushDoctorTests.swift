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
