import Synchronization

/// How long an app's call may take, whatever the network does.
final class CallLimit: Sendable {
    private let time: Timekeeper
    private let end: Duration
    private let mayHaveHappened = Mutex(false)

    init(_ time: Timekeeper) {
        self.time = time
        end = time.now() + time.callLimit
    }

    /// A request is about to be sent, which may have its effect though the call ends.
    func noteSent() { mayHaveHappened.withLock { $0 = true } }

    /// The server wasn't reached after all.
    func noteUnsent() { mayHaveHappened.withLock { $0 = false } }

    /// Ends `body` when the time is over.
    /// - Throws: Then ``QuartetError/unknown``, or ``QuartetError/offline`` if nothing was sent.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(QuartetError) -> Value
    ) async throws(QuartetError) -> Value {
        let result: Result<Value, QuartetError> = await withTaskGroup(of: Result<Value, QuartetError>?.self) { group in
            group.addTask {
                do throws(QuartetError) { return .success(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                // Cancelled once the body has ended, or with the caller, whom the body tells so.
                do { try await self.time.sleep(self.end) } catch { return nil }
                return .failure(self.mayHaveHappened.withLock { $0 } ? .unknown : .offline)
            }
            defer { group.cancelAll() }
            while let result = await group.next() {
                if let result { return result }
            }
            return .failure(.cancelled)
        }
        return try result.get()
    }
}
