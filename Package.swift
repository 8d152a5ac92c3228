// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "quartet",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibpq", path: "Shared/CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "Postgres",
            dependencies: ["CLibpq", .product(name: "Logging", package: "swift-log")],
            path: "Shared/Postgres", swiftSettings: settings),
        .target(
            name: "Vocabulary",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            path: "Shared/Vocabulary", swiftSettings: settings),
        .target(
            name: "Bus",
            dependencies: [
                "Postgres", "Vocabulary",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Shared/Bus", resources: [.copy("SQL")], swiftSettings: settings),
        .target(
            name: "Ledger",
            dependencies: [
                "Bus", "Postgres", "Vocabulary",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Ledger",
            resources: [.copy("Migrations"), .copy("ClientMigrations")], swiftSettings: settings),
        .executableTarget(
            name: "ledger-service",
            dependencies: [
                "Bus", "Ledger", "Postgres", "Vocabulary",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Tests/LedgerCommand", swiftSettings: settings),
        .executableTarget(
            name: "bus-benchmark",
            dependencies: [
                "Bus", "Ledger", "Postgres", "Vocabulary",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Benchmarks/Bus", swiftSettings: settings),
        .testTarget(
            name: "BusTests", dependencies: ["Bus", "Vocabulary"], path: "Tests/BusTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
