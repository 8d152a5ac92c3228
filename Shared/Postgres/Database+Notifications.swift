import CLibpq
import Glibc

/// A NOTIFY as it was received.
public struct Notification: Hashable, Sendable {
    /// Where it was sent.
    public let channel: String
    /// What was sent with it, at most 8000 bytes.
    public let payload: String
    /// The server process that sent it.
    public let pid: Int32
}

extension Database {
    var socket: Int32 { PQsocket(connection) }

    /// Reads what the server sent by itself. Returns false when the connection is gone.
    func consumeInput() -> Bool { PQconsumeInput(connection) == 1 && !isLost }

    /// What was received and not yet taken.
    func takeNotifications() -> [Notification] {
        var taken: [Notification] = []
        while let notification = PQnotifies(connection) {
            taken.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra), pid: notification.pointee.be_pid))
            PQfreemem(notification)
        }
        return taken
    }

    /// Sleeps until the server sends something, `wake` is readable, or the time is up.
    func waitForInput(orWake wake: Wake, atMost timeout: Duration) {
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, Int32(clamping: Int(max(0, timeout / .milliseconds(1)))))
    }
}
