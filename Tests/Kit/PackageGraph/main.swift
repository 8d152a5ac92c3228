// Checks which targets of this package know which, that every bound is in ARCHITECTURE.md, that apps can use the public names, that
// what decides is pure, that each client is by itself, and that no error is dropped without a reason. Run by `make lint`; tests do
// the same.

import Foundation

let package = URL(filePath: CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ".")
do {
    let found: [(check: String, violations: [String])] = try [
        ("package-graph", PackageGraph(package: package).violations.map(\.description)),
        ("bounds", Bounds(package: package).violations),
        ("names", PublicNames(package: package).violations),
        ("purity", Purity(package: package).violations),
        ("clients", ClientFiles(package: package).violations),
        ("clients", ClientFiles(package: package).acquaintances),
        ("errors", DroppedErrors(package: package).violations),
    ]
    for (check, violations) in found {
        for violation in violations { FileHandle.standardError.write(Data("\(check): \(violation)\n".utf8)) }
    }
    exit(found.allSatisfy { $0.violations.isEmpty } ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("package-graph: \(error)\n".utf8))
    exit(2)
}
