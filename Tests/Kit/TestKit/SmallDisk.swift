import Foundation
import Glibc

/// A disk of a few megabytes, in memory, that a test can fill up. Mounting it takes root, and a machine that lets root
/// mount.
public final class SmallDisk: Sendable {
    /// Where it is mounted.
    public let folder: String
    private let owner: uid_t
    private let remover: Remover

    /// Whether this machine lets the tests mount one.
    public static let isPossible: Bool = {
        guard geteuid() == 0, let disk = try? SmallDisk(megabytes: 1, owner: 0) else { return false }
        disk.remove()
        return true
    }()

    /// Mounts a disk, runs `body`, and takes it away.
    /// - Parameters:
    ///   - megabytes: How much it holds.
    ///   - cluster: Whose server may write there.
    public static func with<Result: Sendable>(
        megabytes: Int, for cluster: PrivateCluster, _ body: (SmallDisk) async throws -> Result
    ) async throws -> Result {
        var status = stat()
        guard stat(try cluster.socketFolder(), &status) == 0 else {
            throw SpawnFailed(description: "the cluster has no socket folder")
        }
        let disk = try SmallDisk(megabytes: megabytes, owner: status.st_uid)
        do {
            let result = try await body(disk)
            disk.remove()
            return result
        } catch {
            disk.remove()
            throw error
        }
    }

    private init(megabytes: Int, owner: uid_t) throws {
        self.owner = owner
        folder = try makeTemporaryFolder("quartet-disk")
        guard mount("tmpfs", folder, "tmpfs", 0, "size=\(megabytes)m,uid=\(owner),mode=0700") == 0
        else {
            let reason = String(cString: strerror(errno))
            rmdir(folder)
            throw SpawnFailed(description: "can't mount a small disk: \(reason)")
        }
        remover = try Remover("umount --lazy \"$0\"; rmdir \"$0\"", [folder])
    }

    /// Writes a file until nothing more fits. Only space in pages that are already allocated is left.
    public func fill() throws {
        let file = open("\(folder)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SpawnFailed(description: "can't write to the small disk") }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        while write(file, block, block.count) > 0 {}
    }

    /// Takes the file away.
    public func empty() {
        unlink("\(folder)/filler")
    }

    private func remove() {
        remover.remove()
    }
}
