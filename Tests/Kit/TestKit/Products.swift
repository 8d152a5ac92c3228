public import Foundation

/// Where the package and what was built of it are.
public enum Products {
    /// The package's folder.
    public static var package: URL {
        URL(filePath: #filePath).appending(path: "../../../..").standardized
    }

    /// The folder of the executables and resource bundles that were built together with these tests.
    public static var folder: URL {
        // On Linux the tests are an executable beside the others.
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// An executable of this package.
    /// - Parameter name: Its name, such as `contacts`.
    /// - Throws: ``Missing`` when it wasn't built.
    public static func executable(_ name: String) throws -> URL {
        let executable = folder.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: executable.path) else {
            throw Missing(
                description: "there is no executable \(executable.path); build it: deploy/build.sh --product \(name)")
        }
        return executable
    }

    /// The environment of a process whose clock is so many seconds ahead of the machine's, or behind.
    public static func clock(aheadBy seconds: Int) -> [String: String] {
        [
            "LD_PRELOAD": folder.appending(path: "libQuartetSkewedClock.so").path, "CLOCK_OFFSET_SECONDS": "\(seconds)",
        ]
    }

    /// A folder of compiled time zones, a few, so that tests don't depend on what the machine has.
    public static var zones: URL { package.appending(path: "Tests/Kit/Zones") }

    /// A script of `deploy/`.
    /// - Parameter name: Its file name, such as `postgres.sh`.
    public static func deploy(_ name: String) -> URL {
        package.appending(path: "deploy").appending(path: name)
    }

    /// Something that should have been built isn't there.
    public struct Missing: Error, CustomStringConvertible {
        /// What is missing and how to make it.
        public let description: String
    }
}
