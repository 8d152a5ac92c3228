import TestKit
import Testing

@testable import package_graph

@Suite("The names that apps get")
struct PublicNamesTests {
    private static let source = PackageGraph.File(
        path: "Shared/X/A.swift",
        text: """
            import Foundation
            public struct Notification: Sendable {
                public struct State {}
            }
            package struct Shared {}
            @dynamicMemberLookup public final class Mine<Value> {}
            @MainActor public func withAnimation() {}
            #if canImport(SwiftUI)
                public struct Label: View {}
            #endif
            extension Notification { public static let Text = 1 }
            // public struct Effect {}
            """)

    @Test("public declarations at the top level are found, those that only some systems have among them, and no others")
    func found() {
        let names = PublicNames(files: [Self.source]).names
        #expect(names.map(\.name) == ["Notification", "Mine", "withAnimation", "Label"])
        #expect(names.map(\.isConditional) == [false, false, false, true])
        #expect(names.first?.place == "Shared/X/A.swift:2")
    }

    @Test("a name that a framework has as well is reported, with the framework")
    func collisions() {
        #expect(
            PublicNames(files: [Self.source]).violations == [
                "Shared/X/A.swift:2: Notification is a name of Foundation as well: apps that import both can't use either",
                "Shared/X/A.swift:7: withAnimation is a name of SwiftUI as well: apps that import both can't use either",
                "Shared/X/A.swift:9: Label is a name of SwiftUI as well: apps that import both can't use either",
            ])
        #expect(PublicNames(files: []).violations == ["there are no public names"])
    }

    @Test("a type that two modules have is reported, and a function with two forms isn't")
    func twice() {
        let other = PackageGraph.File(
            path: "Shared/Y/B.swift",
            text: "public enum Mine {}\npublic func ours() {}\npublic func ours(_ one: Int) {}")
        #expect(
            PublicNames(files: [Self.source, other]).violations.first
                == "Shared/Y/B.swift:1: Mine is declared in Shared/X/A.swift:6 as well: apps get both")
        #expect(PublicNames(files: [other]).violations == [])
    }

    @Test("no public name of this package is one of a framework that apps import")
    func thisPackage() throws {
        #expect(try PublicNames(package: Products.package).violations == [])
    }
}
