// Checks which targets of this package know which, that every bound is in ARCHITECTURE.md, and that apps can use the public names.
// Run by `make lint`; tests do the same.

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
    let names = try PublicNames(package: package).violations
    for violation in names {
        FileHandle.standardError.write(Data("names: \(violation)\n".utf8))
    }
    exit(violations.isEmpty && bounds.isEmpty && names.isEmpty ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("package-graph: \(error)\n".utf8))
    exit(2)
}
