import Foundation
import QuartetAPI
import QuartetVocabulary
import Synchronization

extension Connection {
    /// The server's time as its last answer gave it, to about a second; nil before the first one.
    public var serverTime: Instant? { clock.precise ?? clock.now }

    /// The server's time to some milliseconds; nil while nobody needs it or no question was answered.
    public var preciseTime: Instant? { clock.precise }

    /// Has the connection ask for the time, as long as it runs.
    func needsTime() {
        core.withLock { $0.needsTime = true }
        timeKicks.send(())
    }

    /// Waits until the time is known.
    /// - Throws: `CancellationError`.
    func waitForTime() async throws {
        let answers = timeAnswers.subscribe(keeping: 1) { () }
        for await _ in answers where preciseTime != nil { return }
        throw CancellationError()
    }

    /// Asks for the time, if somebody needs it: three times, a second apart, and then once a minute.
    func keepTime() async {
        while !Task.isCancelled {
            let kicked = timeKicks.subscribe(keeping: 1)
            var next: Duration?
            if core.withLock({ $0.needsTime }) {
                let sent = time.now()
                if let body = try? await requests.read(.time),
                    let reply = try? Requests.decoded(ServerTimeReply.self, from: body)
                {
                    clock.heard(reply, sent: sent)
                    timeAnswers.send(())
                }
                next = time.now() + clock.pause
            }
            await time.wait(for: kicked, until: next)
        }
    }

    /// What was known about the clock may be wrong.
    func forgetTime() {
        clock.restart()
        timeKicks.send(())
    }
}
