import CLibpq
import Glibc

/// Wakes a thread that sleeps in `poll` (eventfd(2)).
final class Wake: Sendable {
    let descriptor: Int32

    init() throws(PostgresError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .connectFailed("no file descriptors left; raise the limit (ulimit -n)") }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func reset() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
