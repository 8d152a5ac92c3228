// Checks which targets know which in this package. Run by `make lint`; a test does the same.

import Foundation

let package = URL(filePath: CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ".")
do {
    let violations = try PackageGraph(package: package).violations
    for violation in violations {
        FileHandle.standardError.write(Data("package-graph: \(violation)\n".utf8))
    }
    exit(violations.isEmpty ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("package-graph: \(error)\n".utf8))
    exit(2)
}
