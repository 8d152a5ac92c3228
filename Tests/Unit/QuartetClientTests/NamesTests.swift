import Foundation
import TestKit
import Testing

@testable import package_graph

/// What an app can call this package's types beside the frameworks that it imports.
@Suite
struct NamesTests {
    /// The frameworks that are here. Of the others, modules are made that have their names alone.
    private static let real: Set = ["Foundation", "Observation", "Swift", "Testing"]
    /// Products that apps have only with a trait or on Apple's systems. The scan of the sources sees their names.
    private static let apart = ["Shared/Client/AsyncHTTP/", "Shared/Client/GRPC/", "Shared/Client/SwiftUI/"]

    @Test(
        """
        an app's file that imports Foundation, SwiftUI, Observation, Testing and the Composable Architecture uses every public type by \
        its bare name: the compiler finds none ambiguous
        """
    )
    func unambiguous() async throws {
        let modules = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: modules) }
        for (framework, names) in FrameworkNames.all where !Self.real.contains(framework) {
            let file = modules.appending(path: "\(framework)Names.swift")
            let text = names.sorted().map { "public enum \($0) {}\n" }.joined()
            try text.write(to: file, atomically: true, encoding: .utf8)
            #expect(try await Compiler.makeModule(framework, of: [file], in: modules) == [])
        }
        let types = try PublicNames(package: Products.package).types.filter { type in
            !type.isConditional && !Self.apart.contains { type.place.hasPrefix($0) }
        }
        #expect(types.contains { $0.name == "SharedState" } && types.contains { $0.name == "SharedTestStore" })
        let ours = ["QuartetClient", "QuartetClientTesting", "QuartetStorage"]
        let imports = (FrameworkNames.all.keys + ours).sorted().map { "import \($0)\n" }.joined()
        let uses = types.enumerated().map { "private typealias Use\($0.offset) = \($0.element.name)\n" }.joined()
        // And one that has such a name doesn't compile.
        let other = modules.appending(path: "Other.swift")
        try "public enum SharedState {}".write(to: other, atomically: true, encoding: .utf8)
        #expect(try await Compiler.makeModule("Other", of: [other], in: modules) == [])
        let collision = imports + "import Other\nprivate typealias Collision = SharedState\n"
        let errors = try await Compiler.errors(in: [imports + uses, collision], with: modules)
        #expect(errors.first == [])
        #expect(errors.last?.contains { $0.contains("ambiguous") } == true)
    }
}
