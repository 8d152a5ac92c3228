import Foundation
import ServiceKit
import Testing

@Suite("Settings")
struct SettingsTests {
    private enum Color: String, CaseIterable { case red, green }
    private static let port = Setting<Int>.int("http.port", in: 1...65_535, default: 8080, help: "Where it listens.")
    private static let color = Setting<Color>.choice("color", default: .red, help: "Its colour.")
    private static let pause = Setting<Duration>.duration(
        "poll.pause", in: .milliseconds(1)...(.seconds(60)), default: .seconds(1), help: "How long it waits.")
    private static let loud = Setting<Bool>.bool("loud", default: false, help: "Whether it is heard.")
    private static let secret = Setting<String?>.text("server.key", isSecret: true, help: "The key.")
    private static let all: [any SettingDeclaration] = [port, color, pause, loud, secret]

    private func settings(_ arguments: String..., environment: [String: String] = [:]) throws -> Settings {
        try Settings(Self.all, arguments: arguments, environment: environment)
    }

    @Test("a flag wins over the environment, which wins over the default")
    func precedence() throws {
        #expect(try settings()[Self.port] == 8080)
        #expect(try settings(environment: ["HTTP_PORT": "81"])[Self.port] == 81)
        #expect(try settings("--http-port", "82", environment: ["HTTP_PORT": "81"])[Self.port] == 82)
        #expect(try settings("--http-port=83", environment: ["HTTP_PORT": "81"])[Self.port] == 83)
        #expect(try settings(environment: ["HTTP_PORT": ""])[Self.port] == 8080)
    }

    @Test("each type is read as people write it")
    func types() throws {
        let settings = try settings("--color", "Green", "--poll-pause", "250ms", "--loud", "yes")
        #expect(settings[Self.color] == .green)
        #expect(settings[Self.pause] == .milliseconds(250))
        #expect(settings[Self.loud])
    }

    @Test("a secret comes from the environment or a file, never from a flag")
    func secrets() throws {
        #expect(try settings()[Self.secret] == nil)
        #expect(try settings(environment: ["SERVER_KEY": "k"])[Self.secret] == "k")
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("from a file\n".utf8).write(to: file)
        #expect(try settings(environment: ["SERVER_KEY_FILE": file.path])[Self.secret] == "from a file")
        let refusal = #expect(throws: Settings.Refusal.self) { try settings("--server-key", "hunter2") }
        #expect(refusal?.description.contains("SERVER_KEY_FILE") == true)
        #expect(refusal?.description.contains("hunter2") == false)
        #expect(throws: Settings.Refusal.self) { try settings(environment: ["SERVER_KEY_FILE": "/nowhere"]) }
    }

    @Test("all mistakes are reported together, with what would be right")
    func mistakes() {
        let refusal = #expect(throws: Settings.Refusal.self) {
            try settings(
                "--http-port", "high", "--colour", "red", "--loud", environment: ["COLOR": "blue", "POLL_PAUSE": "2h"])
        }
        #expect(
            refusal?.problems == [
                "unknown setting '--colour'; see --help",
                "--loud needs a value: --loud true|false",
                "--http-port (HTTP_PORT) must be a number from 1 to 65535, not 'high'",
                "--color (COLOR) must be one of red, green, not 'blue'",
                "--poll-pause (POLL_PAUSE) must be a time from 1ms to 1m, such as 250ms, 5s or 10m, not '2h'",
            ])
    }
}
