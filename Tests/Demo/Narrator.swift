import EdgeClient
import Foundation
import Synchronization

/// Tells what happens, as it happens: who does what, and what each person sees.
final class Narrator: Sendable {
    private let start = ContinuousClock.now
    private let names = Mutex<[String: String]>([:])

    /// From now on this account has a name.
    func introduce(_ account: String, as name: String) {
        names.withLock { $0[account] = name }
    }

    /// The name of an account.
    func name(_ account: JSON) -> String {
        guard let account = account.string else { return "somebody" }
        return names.withLock { $0[account] } ?? account
    }

    /// A step of the story.
    func chapter(_ text: String) { say("\n\(text)") }

    /// At once, also into a pipe.
    func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// Somebody does something.
    func does(_ who: String, _ what: String, took duration: Duration? = nil) {
        let time = duration.map { " (answered after \(Self.milliseconds($0)))" } ?? ""
        line(who, "→", what + time)
    }

    /// Somebody sees something.
    func sees(_ who: String, _ what: String) { line(who, "←", what) }

    private func line(_ who: String, _ direction: String, _ what: String) {
        let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
        let time = String(format: "%8.1f ms", elapsed)
        say("\(time)  \(who.padding(toLength: 5, withPad: " ", startingAt: 0)) \(direction) \(what)")
    }

    private static func milliseconds(_ duration: Duration) -> String {
        String(format: "%.1f ms", duration / .milliseconds(1))
    }
}
