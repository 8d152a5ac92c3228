import Foundation

/// A certificate for this machine and its key, in files.
public struct Certificate: Sendable {
    private let folder: URL
    /// The certificate's file.
    public var certificate: String { folder.appending(path: "certificate.pem").path }
    /// Its key's file.
    public var key: String { folder.appending(path: "key.pem").path }
    /// The settings with which session-client serves it.
    public var environment: [String: String] { ["TLS_CERTIFICATE": certificate, "TLS_KEY": key] }

    /// A new one, signed by itself, for 127.0.0.1.
    public static func make() async throws -> Certificate {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let made = Certificate(folder: folder)
        _ = try await openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", made.key, "-out",
            made.certificate)
        return made
    }

    /// Puts another one into its files.
    public func replace(with other: Certificate) throws {
        for (path, new) in [(certificate, other.certificate), (key, other.key)] {
            try Data(contentsOf: URL(filePath: new)).write(to: URL(filePath: path))
        }
    }

    /// Deletes its files.
    public func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// Runs openssl.
/// - Returns: What it printed.
public func openssl(_ arguments: String...) async throws -> String {
    let process = try await ChildProcess.start("/usr/bin/env", ["openssl"] + arguments, name: "openssl")
    try await process.waitForExit(.exited(0))
    let lines = process.lines(on: .output)
    await process.end()
    return lines.joined(separator: "\n")
}
