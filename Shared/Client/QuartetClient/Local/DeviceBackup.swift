package import Foundation

/// The backups that the system makes of a device.
package enum DeviceBackup {
    /// Keeps a file out of them: on another device, or later on this one, its tokens would look like a thief's, and what waits in it
    /// would be sent late. Does nothing where the system makes none.
    package static func exclude(_ file: URL) {
        #if canImport(Darwin)
            var file = file
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            // A file system that can't say so doesn't keep anybody from signing in.
            try? file.setResourceValues(values)
        #endif
    }
}
