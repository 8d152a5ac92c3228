import Foundation

/// The names at the top level of what apps import: of the products for apps, and of the modules that these export again.
struct PublicNames: Sendable {
    struct Name: Sendable, Hashable {
        let name: String
        /// The file and the line.
        let place: String
        /// Whether it is there on some systems only.
        let isConditional: Bool
    }

    /// The folders of these modules.
    static let folders = [
        "Shared/API", "Shared/Client/AsyncHTTP", "Shared/Client/GRPC", "Shared/Client/QuartetClient",
        "Shared/Client/Storage",
        "Shared/Client/SwiftUI", "Shared/Client/Testing", "Shared/Contracts", "Shared/Vocabulary",
    ]
    /// The generated messages: no module that apps import exports them.
    private static let apart = "Shared/API/Proto/"

    let names: [Name]

    init(files: [PackageGraph.File]) {
        names = files.filter { !$0.path.hasPrefix(Self.apart) }.flatMap(Self.names(in:))
    }

    /// Those of types.
    var types: [Name] { names.filter { $0.name.first?.isUppercase == true } }

    /// What an app's file can't say without a module's name in front of it, a sentence each.
    var violations: [String] {
        if names.isEmpty { return ["there are no public names"] }
        var first: [String: String] = [:]
        let twice = types.compactMap { type -> String? in
            guard let other = first.updateValue(type.place, forKey: type.name) else { return nil }
            return "\(type.place): \(type.name) is declared in \(other) as well: apps get both"
        }
        return twice
            + names.flatMap { name in
                FrameworkNames.all.keys.sorted().filter { FrameworkNames.all[$0]?.contains(name.name) == true }
                    .map {
                        "\(name.place): \(name.name) is a name of \($0) as well: apps that import both can't use either"
                    }
            }
    }

    /// Public declarations at the top level, which are not indented, or by one step inside an `#if`.
    private static func names(in file: PackageGraph.File) -> [Name] {
        var conditions = 0
        var found: [Name] = []
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("#if") { conditions += 1 }
            if line.hasPrefix("#endif") { conditions -= 1 }
            let indented = line.prefix { $0 == " " }.count
            guard indented == 0 || (indented == 4 && conditions > 0), let name = declared(in: line.dropFirst(indented))
            else {
                continue
            }
            found.append(Name(name: name, place: "\(file.path):\(index + 1)", isConditional: conditions > 0))
        }
        return found
    }

    /// The name that a line declares publicly.
    private static func declared(in line: Substring) -> String? {
        let declaration =
            #/^(?:@\w+(?:\([^)]*\))? +)*public +(?:(?:final|indirect|nonisolated|distributed) +)*/#
        let kind = #/(?:struct|class|enum|actor|protocol|typealias|func|let|var|macro) +`?(\w+)/#
        guard let start = line.prefixMatch(of: declaration),
            let match = line[start.range.upperBound...].prefixMatch(of: kind)
        else { return nil }
        return String(match.1)
    }
}

extension PublicNames {
    /// Those of the package in a folder.
    init(package: URL) throws {
        self.init(
            files: try Self.folders.flatMap { try PackageGraph.File.below(package.appending(path: $0), named: $0) })
    }
}
