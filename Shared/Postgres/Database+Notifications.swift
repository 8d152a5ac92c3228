import CLibpq
import Glibc

extension Database {
    var socket: Int32 { PQsocket(connection) }

    /// Reads what the server sent unasked. Returns false when the connection is gone.
    func consumeInput() -> Bool { PQconsumeInput(connection) == 1 && !isLost }

    /// The notifications that were received since the last call. Anybody can send a payload, of at most 8000 bytes.
    func takeNotifications() -> [(channel: String, payload: String)] {
        var taken: [(channel: String, payload: String)] = []
        while let notification = PQnotifies(connection) {
            taken.append(
                (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return taken
    }

    /// Sleeps until the server sends something, `wake` is readable, or the time is up.
    func waitForInput(orWake wake: Wake, until deadline: ContinuousClock.Instant) {
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, Self.milliseconds(until: deadline))
    }
}
