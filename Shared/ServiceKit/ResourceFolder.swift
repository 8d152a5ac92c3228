public import Foundation

/// Where a target's copied resources are: in a folder beside the executable. SwiftPM's `Bundle.module` looks there too,
/// but ends the process when the folder was not moved along.
public enum ResourceFolder {
    /// The folder `name` among the resources of `target`; nobody has looked whether it is there.
    /// - Parameters:
    ///   - name: The folder's name.
    ///   - target: The target.
    public static func url(_ name: String, of target: String) -> URL {
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
