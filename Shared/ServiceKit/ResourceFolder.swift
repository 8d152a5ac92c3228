package import Foundation

/// The folder beside the executable that has a target's copied resources. SwiftPM's `Bundle.module` looks there too,
/// but ends the process if the folder was not moved along.
package enum ResourceFolder {
    /// The folder `name` among the resources of `target`, whether it exists or not.
    package static func url(_ name: String, of target: String) -> URL {
        executable.deletingLastPathComponent().appending(path: "quartet_\(target).resources").appending(path: name)
    }

    private static var executable: URL {
        #if os(Linux)
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #else
            Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments.first ?? "")
        #endif
    }
}
