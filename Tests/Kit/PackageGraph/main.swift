// Checks which targets of this package know which, and that every bound is in ARCHITECTURE.md. Run by `make lint`; tests do
// the same.

import Foundation

let package = URL(filePath: CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ".")
do {
    let violations = try PackageGraph(package: package).violations
    for violation in violations {
        FileHandle.standardError.write(Data("package-graph: \(violation)\n".utf8))
    }
    let bounds = try Bounds(package: package).violations
    for violation in bounds {
        FileHandle.standardError.write(Data("bounds: \(violation)\n".utf8))
    }
    exit(violations.isEmpty && bounds.isEmpty ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("package-graph: \(error)\n".utf8))
    exit(2)
}
