import Foundation
import Glibc
import Synchronization

/// A program could not be started.
public struct SpawnFailed: Error, CustomStringConvertible {
    /// Which program, and what the system said.
    public let description: String
}

/// Held while descriptors are made close-on-exec, and while a program starts: Swift sees no `pipe2`, which would do it in
/// one step.
private let inheritance = Mutex(())

/// Starts a program in a session of its own. It gets `descriptors` as its file descriptors 0, 1, 2 … All others that this
/// folder opens are close-on-exec, in particular the writing ends of the other children's lifelines.
func spawn(
    _ executable: String, _ arguments: [String], environment: [String: String], descriptors: [Int32]
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, source) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
    }
    // A session of its own: Ctrl-C at the terminal is for the tests, which then close the lifelines.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let newSession: Int16 = 0x80  // POSIX_SPAWN_SETSID, which Swift doesn't see
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | newSession)

    let words = ([executable] + arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for string in words + variables { free(string) } }
    var process = pid_t()
    let result = inheritance.withLock { _ in
        posix_spawn(&process, executable, &actions, &attributes, words, variables)
    }
    guard result == 0 else {
        throw SpawnFailed(description: "could not start \(executable): \(String(cString: strerror(result)))")
    }
    return process
}

/// A pipe whose ends no other program inherits.
struct Pipe {
    var reading: Int32
    var writing: Int32

    init() throws {
        (reading, writing) = inheritance.withLock { _ in
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return (-1, -1) }
            // Above all numbers that a program expects, so that passing one on never overwrites another.
            let moved = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
            for end in ends { close(end) }
            return (moved[0], moved[1])
        }
        guard reading >= 0, writing >= 0 else {
            throw SpawnFailed(description: "could not make a pipe: \(String(cString: strerror(errno)))")
        }
    }
}

/// The part of this process's environment that a test's programs inherit.
func inheritedEnvironment() -> [String: String] {
    let passed = ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "PG_BIN", "PGPASSFILE", "PGSERVICEFILE"]
    return ProcessInfo.processInfo.environment.filter { passed.contains($0.key) }
}

/// Makes a pseudo-terminal whose ends no other program inherits.
/// - Returns: The end at which somebody types and looks, the program's end, and the path by which programs open that.
func openTerminal(width: Int, height: Int) throws -> (controlling: Int32, program: Int32, path: String) {
    var size = winsize(ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
    var name = [CChar](repeating: 0, count: 256)
    let (controlling, program) = inheritance.withLock { _ in
        var (one, other): (Int32, Int32) = (-1, -1)
        guard openpty(&one, &other, &name, nil, &size) == 0 else { return (Int32(-1), Int32(-1)) }
        let moved = [one, other].map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        for end in [one, other] { close(end) }
        return (moved[0], moved[1])
    }
    guard controlling >= 0, program >= 0 else {
        throw SpawnFailed(description: "could not make a pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    return (controlling, program, name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" })
}
