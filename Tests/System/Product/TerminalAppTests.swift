import Foundation
import QuartetClient
import TestKit
import Testing

/// `quartet-tui` in pseudo-terminals, against the real services: what its rows say after what somebody typed.
@Suite
struct TerminalAppTests {
    /// Runs `body` while Anna, who has just signed up, has the app in a terminal of 80 by 24.
    static func withAnna(
        _ quartet: Quartet, _ body: @Sendable (PseudoTerminal) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try await PseudoTerminal.with("quartet-tui", ["--server", quartet.url, "--folder", folder]) { terminal in
                try await signUp(terminal)
                try await body(terminal)
            }
        }
    }

    static func withFolder(_ body: (_ folder: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "terminal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    /// By the keys that the screen names.
    static func signUp(_ terminal: PseudoTerminal) async throws {
        try await terminal.see("I'm new here")
        terminal.press(.tab, .tab, .tab, .enter)
        try await terminal.see("Create an account")
        terminal.type("anna\tAnna 日本\tcorrect horse battery\r")
        try await terminal.see("Time left:")
        try await terminal.see("● Connected")
    }

    @Test(
        """
        somebody signs up, checks in with the time left in view, and is still signed in when the app starts again; the first screen \
        says what was wrong, and never shows a password (S1, S2, T12)
        """)
    func signingIn() async throws {
        try await Quartet.with { quartet in
            try await Self.withFolder { folder in
                let arguments = ["--server", try quartet.url, "--folder", folder]
                try await PseudoTerminal.with("quartet-tui", arguments) { terminal in
                    try await Self.signUp(terminal)
                    try await terminal.see("Anna 日本  @anna")
                    try await terminal.see("Time left: 23 h")
                    terminal.type("c")
                    try await terminal.see("Checked in.")
                    try await terminal.see("The last time was")
                    try await PseudoTerminal.with("quartet-tui", arguments) { second in
                        try await second.see("another quartet-tui uses")
                        try await second.process.waitForExit(.exited(2))
                    }
                    terminal.press(.interrupt)
                    try await terminal.process.waitForExit(.exited(0))
                }
                try await PseudoTerminal.with("quartet-tui", arguments, environment: ["NO_COLOR": "1"]) { terminal in
                    try await terminal.see("● Connected")
                    try await terminal.see("Anna 日本  @anna")
                    terminal.type("s")
                    try await terminal.see("[ Sign out ]")
                    terminal.press(.down, .enter)
                    try await terminal.see("○ Not signed in")
                    terminal.type("anna\twrong horse battery")
                    try await terminal.see("•••")
                    terminal.press(.enter)
                    try await terminal.see("wrong")
                    #expect(!terminal.screen.value.contains("wrong horse"))
                    for _ in "wrong horse battery" { terminal.type("\u{7F}") }
                    terminal.type("correct horse battery\r")
                    try await terminal.see("Time left:")
                    #expect(!terminal.screen.value.hadColor && terminal.screen.value.unknown == [])
                    terminal.type("q")
                    try await terminal.process.waitForExit(.exited(0))
                }
                let accounts = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/accounts")
                let anna = try #require(accounts.first { $0 != "accounts.json" })
                let kept = try FileManager.default.attributesOfItem(atPath: "\(folder)/accounts/\(anna)/tokens")
                #expect(kept[.posixPermissions] as? Int == 0o600)
            }
        }
    }

    @Test(
        "several people use it on one computer: @ lists their accounts and shows another one, also when it starts again (R12)"
    )
    func accounts() async throws {
        try await Quartet.with { quartet in
            try await Self.withFolder { folder in
                let arguments = ["--server", try quartet.url, "--folder", folder]
                try await PseudoTerminal.with("quartet-tui", arguments) { terminal in
                    try await Self.signUp(terminal)
                    terminal.type("@")
                    try await terminal.see("@anna  (now)")
                    terminal.press(.down, .enter)
                    try await terminal.see("I'm new here")
                    terminal.press(.tab, .tab, .tab, .enter)
                    try await terminal.see("Create an account")
                    terminal.type("bob\tBob\tcorrect horse battery\r")
                    try await terminal.see("Bob  @bob")
                    terminal.type("@")
                    try await terminal.see("@bob  (now)")
                    terminal.press(.enter)
                    try await terminal.see("Anna 日本  @anna")
                    try await terminal.see("● Connected")
                    terminal.type("q")
                    try await terminal.process.waitForExit(.exited(0))
                }
                try await PseudoTerminal.with("quartet-tui", arguments) { terminal in
                    try await terminal.see("Anna 日本  @anna")
                    terminal.type("@")
                    try await terminal.see("2  Bob  @bob")
                    terminal.press(.down, .enter)
                    try await terminal.see("Bob  @bob")
                    try await terminal.see("Time left:")
                    terminal.type("q")
                    try await terminal.process.waitForExit(.exited(0))
                }
            }
        }
    }

    @Test("it speaks TLS to a server whose certificate it is told to trust, and to no other (T19)")
    func encrypted() async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: certificate.environment)
            try await Self.withFolder { folder in
                let arguments = ["--server", try quartet.url, "--folder", folder]
                try await PseudoTerminal.with("quartet-tui", arguments) { terminal in
                    try await terminal.see("I'm new here")
                    terminal.press(.tab, .tab, .tab, .enter)
                    try await terminal.see("Create an account")
                    terminal.type("anna\tAnna\tcorrect horse battery\r")
                    try await terminal.see("There is no connection")
                    terminal.press(.interrupt)
                    try await terminal.process.waitForExit(.exited(0))
                }
                let trusting = ["QUARTET_CERTIFICATES": certificate.certificate]
                try await PseudoTerminal.with("quartet-tui", arguments, environment: trusting) { terminal in
                    try await Self.signUp(terminal)
                    terminal.type("q")
                    try await terminal.process.waitForExit(.exited(0))
                }
            }
        }
    }

    @Test("without a server it says so; help and mistakes end it before it touches the terminal (T12)")
    func notConfigured() async throws {
        try await Self.withFolder { folder in
            try await PseudoTerminal.with("quartet-tui", ["--folder", folder]) { terminal in
                try await terminal.see("○ Not configured")
                try await terminal.see("--server https://")
                terminal.type("q")
                try await terminal.process.waitForExit(.exited(0))
            }
        }
        for (arguments, status, text) in [(["--help"], 0, "Usage: quartet-tui"), (["--colour"], 2, "see --help")] {
            try await PseudoTerminal.with("quartet-tui", arguments) { terminal in
                try await terminal.see(text)
                try await terminal.process.waitForExit(.exited(status))
                #expect(terminal.screen.value.sequenceCount == 0)
            }
        }
        try await ChildProcess.with("quartet-tui", ["--server", "http://127.0.0.1:9"]) { app in
            try await app.waitForLine(containing: "it needs a terminal")
            try await app.waitForExit(.exited(2))
        }
    }

    @Test(
        """
        it takes the whole screen and gives it back as it was, draws only what changes, and follows the window's size (T28)
        """)
    func terminal() async throws {
        try await Quartet.with { quartet in
            try await Self.withFolder { folder in
                let arguments = ["--server", try quartet.url, "--folder", folder]
                try await PseudoTerminal.with("quartet-tui", arguments) { terminal in
                    try await Self.signUp(terminal)
                    let drawn = terminal.screen.value
                    #expect(drawn.isAlternate && !drawn.isCursorVisible && terminal.mode?.echoes == false)
                    for (key, text) in [
                        ("2", "Contacts (0)"), ("3", "Notifications ("), ("4", "No sessions yet."),
                        ("1", "You check in every 1 d."),
                    ] {
                        terminal.type(key)
                        try await terminal.see(text)
                    }
                    #expect(terminal.screen.value.clears == 1, "no frame erases the one before it")
                    terminal.type("i")
                    try await terminal.see("How often")
                    // The last row: the whole frame is there.
                    try await terminal.see("Esc cancel")
                    let bytes = terminal.screen.value.byteCount
                    terminal.type("8")
                    try await terminal.see("Check in every  8")
                    #expect(terminal.screen.value.byteCount - bytes < 60, "a key costs a few cells")
                    terminal.press(.escape)
                    try await terminal.see("You check in every 1 d.")
                    try await terminal.see("c check in")
                    terminal.resize(width: 50, height: 12)
                    try await terminal.screen.wait("a frame of the new size") {
                        $0.clears == 2 && $0.rows[11] != "" ? true : nil
                    }
                    try await terminal.see("● Connected")
                    #expect(terminal.screen.value.rows[11].hasPrefix("c check in"))
                    terminal.type("q")
                    try await terminal.process.waitForExit(.exited(0))
                    // What it wrote last may come after its end.
                    try await terminal.screen.wait("the screen as it was") {
                        !$0.isAlternate && $0.isCursorVisible ? true : nil
                    }
                    #expect(terminal.screen.value.unknown == [])
                    #expect(terminal.mode?.echoes == true)
                }
                try await PseudoTerminal.with("quartet-tui", arguments, environment: ["TERM": "dumb"]) { terminal in
                    try await terminal.see("● Connected")
                    terminal.type("2\n")
                    try await terminal.see("Contacts (0)")
                    terminal.type("quit\n")
                    try await terminal.process.waitForExit(.exited(0))
                    #expect(terminal.screen.value.sequenceCount == 0)
                }
            }
        }
    }
}
