// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
/// For the modules that every message passes through: tests take a sixth less CPU time when these are optimized. Only where
/// deploy/build.sh asks for it, since SwiftPM refuses a dependency from a URL that has such a flag.
let optimized =
    Context.environment["QUARTET_OPTIMIZED"] == nil
    ? settings : settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

// Apps leave this trait out, as in .package(url: …, traits: []), and resolve none of the packages that only the services need.
let server = TargetDependencyCondition.when(traits: ["Server"])
let logging = Target.Dependency.product(name: "Logging", package: "swift-log", condition: server)
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server)
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server)
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio", condition: server)
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto", condition: server)
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird", condition: server)
let hummingbirdHTTP2 = Target.Dependency.product(name: "HummingbirdHTTP2", package: "hummingbird", condition: server)
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types", condition: server)
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio", condition: server)
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio", condition: server)
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio", condition: server)
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2", condition: server)
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl", condition: server)
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio", condition: server)
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: server)
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics", condition: server)
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics", condition: server)

// Apps on Linux add this one: .package(url: …, traits: ["AsyncHTTP"]).
let asyncHTTP = TargetDependencyCondition.when(traits: ["AsyncHTTP"])
let httpClient = Target.Dependency.product(
    name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTP)

// Apps that speak gRPC add this one: .package(url: …, traits: ["GRPC"]).
let rpc = TargetDependencyCondition.when(traits: ["GRPC"])
let grpc = Target.Dependency.product(name: "GRPCCore", package: "grpc-swift-2", condition: rpc)
let grpcTransport = Target.Dependency.product(
    name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport", condition: rpc)
let grpcProtobuf = Target.Dependency.product(
    name: "GRPCProtobuf", package: "grpc-swift-protobuf", condition: rpc)
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf", condition: rpc)

let package = Package(
    name: "quartet",
    platforms: [.macOS(.v15), .iOS(.v18)],
    // SwiftPM refuses two targets of one name among all that products are made of, used or not, so the names of these targets
    // begin with Quartet. Executables are built here without being products.
    products: [
        // What apps add. It needs none of the server's dependencies.
        .library(name: "QuartetClient", targets: ["QuartetClient"]),
        // What keeps an app's state on the device, in SQLite.
        .library(name: "QuartetStorage", targets: ["QuartetStorage"]),
        // The API by AsyncHTTPClient, for apps on Linux that have the trait AsyncHTTP.
        .library(name: "QuartetAsyncHTTP", targets: ["QuartetAsyncHTTP"]),
        // The API over gRPC, for apps that have the trait GRPC.
        .library(name: "QuartetGRPC", targets: ["QuartetGRPC"]),
        // Views and modifiers, where there is SwiftUI.
        .library(name: "QuartetSwiftUI", targets: ["QuartetSwiftUI"]),
        .library(name: "QuartetClientTesting", targets: ["QuartetClientTesting"]),
        // What tests load into a process whose clock is to be wrong.
        .library(name: "QuartetSkewedClock", type: .dynamic, targets: ["QuartetSkewedClock"]),
    ],
    traits: [
        .trait(name: "AsyncHTTP", description: "The transport of QuartetAsyncHTTP, and what it needs"),
        .trait(name: "GRPC", description: "The transport of QuartetGRPC, and what it needs"),
        .trait(
            name: "Server", description: "The services, and everything that only they need",
            enabledTraits: ["AsyncHTTP", "GRPC"]),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        // MARK: Shared
        .systemLibrary(
            name: "CLibpq", path: "Shared/CLibpq", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CZlib", path: "Shared/CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        // By itself: gRPC's transport has the same C types, and an optimised build of a module with both takes theirs for ours.
        .target(name: "Gzip", dependencies: ["CZlib"], path: "Shared/Gzip", swiftSettings: optimized),
        .target(name: "QuartetVocabulary", dependencies: [crypto], path: "Shared/Vocabulary", swiftSettings: optimized),
        .target(
            name: "Postgres", dependencies: ["CLibpq", "QuartetVocabulary", logging, metrics], path: "Shared/Postgres",
            swiftSettings: optimized),
        .target(
            name: "Storage", dependencies: ["Postgres", "QuartetVocabulary"], path: "Shared/Storage",
            swiftSettings: optimized),
        .target(
            name: "Bus",
            dependencies: [
                "Postgres", "QuartetVocabulary",
                .product(name: "DequeModule", package: "swift-collections", condition: server), logging,
                lifecycle, metrics,
            ],
            path: "Shared/Bus", resources: [.copy("SQL")], swiftSettings: optimized),
        .target(
            name: "ServiceKit",
            dependencies: [
                "Bus", "Postgres", "QuartetVocabulary",
                .product(name: "Configuration", package: "swift-configuration", condition: server),
                coreMetrics, crypto, hummingbird, logging, lifecycle, signals,
            ],
            path: "Shared/ServiceKit", swiftSettings: optimized),

        .target(
            name: "Webhook", dependencies: [crypto, httpClient, nio, nioHTTP], path: "Shared/Webhook",
            swiftSettings: settings),

        // MARK: Contracts
        .target(
            name: "QuartetContractSupport", dependencies: ["QuartetVocabulary", crypto],
            path: "Shared/Contracts/Support",
            swiftSettings: optimized),
        .target(
            name: "QuartetSessionContract", dependencies: ["QuartetContractSupport", "QuartetVocabulary", crypto],
            path: "Shared/Contracts/Session",
            swiftSettings: settings),
        .target(
            name: "QuartetContactsContract", dependencies: ["QuartetContractSupport", "QuartetVocabulary"],
            path: "Shared/Contracts/Contacts",
            swiftSettings: settings),
        .target(
            name: "QuartetNotificationsContract", dependencies: ["QuartetContractSupport", "QuartetVocabulary"],
            path: "Shared/Contracts/Notifications",
            swiftSettings: settings),

        .target(
            name: "QuartetAPI",
            dependencies: [
                "QuartetContactsContract", "QuartetContractSupport", "QuartetNotificationsContract",
                "QuartetSessionContract", "QuartetVocabulary",
            ],
            path: "Shared/API", exclude: ["Proto"], swiftSettings: settings),
        .target(
            name: "QuartetProto", dependencies: [protobuf], path: "Shared/API/Proto",
            exclude: ["checksums", "grpc", "make.sh", "quartet.proto", "stream.proto"], swiftSettings: settings),

        // MARK: Client
        .target(
            name: "QuartetClient",
            dependencies: [
                "QuartetAPI", "QuartetContactsContract", "QuartetContractSupport", "QuartetNotificationsContract",
                "QuartetSessionContract", "QuartetVocabulary",
                crypto,
            ],
            path: "Shared/Client/QuartetClient", swiftSettings: settings),
        .target(
            name: "QuartetStorage",
            dependencies: ["QuartetClient", "QuartetVocabulary", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Shared/Client/Storage", swiftSettings: settings),
        .target(
            name: "QuartetAsyncHTTP",
            dependencies: [
                "QuartetClient", httpClient,
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTP),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTP),
                .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTP),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTP),
            ],
            path: "Shared/Client/AsyncHTTP", swiftSettings: settings),
        .target(
            name: "QuartetGRPC",
            dependencies: [
                "QuartetAPI", "QuartetContractSupport", "QuartetClient", "QuartetProto", "QuartetSessionContract",
                "QuartetVocabulary", grpc,
                grpcProtobuf, grpcTransport, protobuf,
            ],
            path: "Shared/Client/GRPC", swiftSettings: settings),
        .target(
            name: "QuartetSwiftUI", dependencies: ["QuartetClient"], path: "Shared/Client/SwiftUI",
            swiftSettings: settings),
        .target(
            name: "QuartetClientTesting",
            dependencies: [
                "QuartetAPI", "QuartetContactsContract", "QuartetContactsRules", "QuartetContractSupport",
                "QuartetNotificationsContract",
                "QuartetNotificationsRules", "QuartetClient", "QuartetSessionClientOrchestration",
                "QuartetSessionContract", "QuartetSessionRules",
                "QuartetVocabulary",
            ],
            path: "Shared/Client/Testing", swiftSettings: settings),

        .target(name: "Games", path: "Shared/Client/Games", swiftSettings: settings),
        .systemLibrary(name: "CWidth", path: "Shared/Client/CWidth"),
        .executableTarget(
            name: "quartet-tui",
            dependencies: [
                "CWidth", "Games", "QuartetAsyncHTTP", "QuartetClient", "QuartetStorage", "QuartetVocabulary",
            ],
            path: "Shared/Client/Terminal", swiftSettings: settings),

        // MARK: Services
        .target(
            name: "QuartetSessionRules",
            dependencies: ["QuartetContractSupport", "QuartetSessionContract", "QuartetVocabulary", crypto],
            path: "Services/Session/Rules", swiftSettings: settings),
        .target(
            name: "SessionService",
            dependencies: [
                "Bus", "Postgres", "QuartetContractSupport", "QuartetSessionContract", "QuartetSessionRules", "Storage",
                "QuartetVocabulary",
            ],
            path: "Services/Session", exclude: ["Executable", "Rules"], resources: [.copy("Migrations")],
            swiftSettings: settings),
        .executableTarget(
            name: "session", dependencies: ["Postgres", "ServiceKit", "SessionService", logging],
            path: "Services/Session/Executable", swiftSettings: settings),
        .target(
            name: "QuartetContactsRules",
            dependencies: ["QuartetContactsContract", "QuartetContractSupport", "QuartetVocabulary"],
            path: "Services/Contacts/Rules", swiftSettings: settings),
        .target(
            name: "ContactsService",
            dependencies: [
                "Bus", "QuartetContactsContract", "QuartetContactsRules", "Postgres", "Storage", "QuartetVocabulary",
            ],
            path: "Services/Contacts", exclude: ["Executable", "Rules"], resources: [.copy("Migrations")],
            swiftSettings: settings),
        .executableTarget(
            name: "contacts", dependencies: ["ServiceKit", "ContactsService"], path: "Services/Contacts/Executable",
            swiftSettings: settings),
        .target(
            name: "QuartetNotificationsRules",
            dependencies: ["QuartetContractSupport", "QuartetNotificationsContract", "QuartetVocabulary"],
            path: "Services/Notifications/Rules", swiftSettings: settings),
        .target(
            name: "NotificationsService",
            dependencies: [
                "Bus", "QuartetNotificationsContract", "QuartetNotificationsRules", "Postgres", "Storage",
                "QuartetVocabulary", "Webhook",
                .product(name: "JWTKit", package: "jwt-kit", condition: server),
                crypto, httpClient, lifecycle, logging, metrics, nio, nioHTTP, nioSSL,
            ],
            path: "Services/Notifications", exclude: ["Executable", "Rules"], resources: [.copy("Migrations")],
            swiftSettings: settings),
        .executableTarget(
            name: "notifications",
            dependencies: [
                "Bus", "QuartetNotificationsContract", "NotificationsService", "ServiceKit", "Webhook", crypto,
                lifecycle,
                logging,
            ],
            path: "Services/Notifications/Executable",
            swiftSettings: settings),

        .target(
            name: "QuartetSessionClientOrchestration",
            dependencies: [
                "QuartetAPI", "QuartetContactsContract", "QuartetContractSupport", "QuartetNotificationsContract",
                "QuartetSessionContract", "QuartetVocabulary",
            ],
            path: "Services/SessionClient/Orchestration", swiftSettings: settings),
        .target(
            name: "SessionClientService",
            dependencies: [
                "QuartetAPI", "Bus", "QuartetContactsContract", "QuartetContractSupport", "Gzip",
                "QuartetNotificationsContract", "Postgres",
                "QuartetProto", "ServiceKit",
                "QuartetSessionClientOrchestration", "QuartetSessionContract", "QuartetVocabulary", "Webhook", crypto,
                cryptoExtras, grpc,
                grpcProtobuf, grpcTransport, httpTypes, hummingbird, hummingbirdHTTP2, lifecycle, logging, metrics, nio,
                nioHTTP1, nioHTTP2, nioHTTPTypes, nioPosix, nioSSL, nioTLS, protobuf, signals,
                .product(name: "JWTKit", package: "jwt-kit", condition: server),
            ],
            path: "Services/SessionClient", exclude: ["Executable", "Orchestration"],
            resources: [
                .copy("Console"), .copy("Migrations"), .copy("Operators/psqlrc"),
                .embedInCode("Access/common-passwords.txt"), .embedInCode("Documents/style.css"),
                .embedInCode("GRPC/descriptors.binpb"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "session-client", dependencies: ["ServiceKit", "SessionClientService", lifecycle],
            path: "Services/SessionClient/Executable", swiftSettings: settings),

        // What `make run` builds: SwiftPM takes one product or target at a time.
        .target(
            name: "services", dependencies: ["contacts", "notifications", "session", "session-client"],
            path: "deploy/Services", swiftSettings: settings),

        // MARK: Tests
        .target(
            name: "StoreKit",
            dependencies: ["Bus", "Postgres", "ServiceKit", "Storage", "TestKit", "QuartetVocabulary"],
            path: "Tests/Kit/StoreKit",
            swiftSettings: settings),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "QuartetContactsContract", "QuartetContractSupport", "QuartetNotificationsContract",
                "QuartetSessionClientOrchestration", "QuartetSessionContract", "QuartetVocabulary",
            ],
            path: "Tests/Unit/ContractTests", exclude: ["Published", "Vectors"], swiftSettings: settings),
        .testTarget(
            name: "SessionServiceTests",
            dependencies: [
                "Bus", "QuartetContractSupport", "Postgres", "QuartetSessionContract", "QuartetSessionRules",
                "SessionService", "Storage",
                "StoreKit", "TestKit",
                "QuartetVocabulary", crypto, logging,
            ],
            path: "Tests/Unit/SessionServiceTests", swiftSettings: settings),
        .testTarget(
            name: "ContactsServiceTests",
            dependencies: [
                "Bus", "QuartetContractSupport", "Postgres", "QuartetContactsContract", "QuartetContactsRules",
                "ContactsService", "Storage",
                "StoreKit", "TestKit",
                "QuartetVocabulary",
            ],
            path: "Tests/Unit/ContactsServiceTests", swiftSettings: settings),
        .testTarget(
            name: "NotificationsServiceTests",
            dependencies: [
                "Bus", "QuartetContractSupport", "Postgres", "QuartetNotificationsContract",
                "QuartetNotificationsRules",
                "NotificationsService", "QuartetClient", "Storage", "StoreKit",
                "TestKit", "QuartetVocabulary", crypto, lifecycle, logging,
            ],
            path: "Tests/Unit/NotificationsServiceTests", swiftSettings: settings),
        .testTarget(
            name: "APITests",
            dependencies: [
                "QuartetAPI", "QuartetContactsContract", "QuartetNotificationsContract", "QuartetSessionContract",
                "TestKit", "QuartetVocabulary",
            ],
            path: "Tests/Unit/APITests", swiftSettings: settings),
        .testTarget(
            name: "QuartetClientTests",
            dependencies: [
                "QuartetAPI", "QuartetContactsContract", "QuartetContractSupport", "QuartetNotificationsContract",
                "QuartetAsyncHTTP", "QuartetClient", "QuartetClientTesting", "QuartetStorage", "QuartetSessionContract",
                "TestKit", "QuartetVocabulary", "package-graph", crypto,
            ],
            path: "Tests/Unit/QuartetClientTests", exclude: ["Stubs"], swiftSettings: settings),
        .testTarget(
            name: "QuartetStorageTests", dependencies: ["QuartetClient", "QuartetStorage", "QuartetVocabulary"],
            path: "Tests/Unit/QuartetStorageTests", swiftSettings: settings),
        .testTarget(
            name: "QuartetTUITests", dependencies: ["Games", "QuartetClient", "TestKit", "quartet-tui"],
            path: "Tests/Unit/QuartetTUITests", swiftSettings: settings),
        .executableTarget(
            name: "offline-app",
            dependencies: [
                "QuartetAsyncHTTP", "QuartetClient", "QuartetGRPC", "QuartetStorage", "TestKit", crypto, grpcTransport,
            ],
            path: "Tests/Kit/OfflineApp", swiftSettings: settings),
        .testTarget(
            name: "SessionClientOrchestrationTests",
            dependencies: [
                "QuartetAPI", "QuartetContactsContract", "QuartetContractSupport", "QuartetNotificationsContract",
                "QuartetSessionClientOrchestration",
                "QuartetSessionContract", "QuartetVocabulary",
            ],
            path: "Tests/Unit/SessionClientOrchestrationTests", swiftSettings: settings),
        .testTarget(
            name: "SessionClientServiceTests",
            dependencies: [
                "QuartetAPI", "Bus", "QuartetContractSupport", "Postgres", "QuartetProto", "ServiceKit",
                "QuartetSessionClientOrchestration",
                "SessionClientService", "QuartetSessionContract", "TestKit", "QuartetVocabulary", "Webhook", crypto,
                grpc,
                grpcProtobuf, grpcTransport, httpTypes, hummingbird, logging, nio, nioHTTP2, nioHTTPTypes, nioTLS,
                .product(name: "JWTKit", package: "jwt-kit", condition: server),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: server), protobuf,
            ],
            path: "Tests/Unit/SessionClientServiceTests", swiftSettings: settings),
        .executableTarget(
            name: "example", dependencies: ["ServiceKit", logging, lifecycle], path: "Tests/Kit/Example",
            resources: [.copy("Migrations")], swiftSettings: settings),
        .testTarget(
            name: "ServiceKitTests",
            dependencies: ["Postgres", "ServiceKit", "TestKit", "example", coreMetrics, logging],
            path: "Tests/Unit/ServiceKitTests", swiftSettings: settings),
        .executableTarget(name: "test-supervisor", path: "Tests/Kit/Supervisor"),
        .target(name: "QuartetSkewedClock", path: "Tests/Kit/SkewedClock"),
        .target(
            name: "TestKit", dependencies: ["CLibpq", "CWidth", "test-supervisor"], path: "Tests/Kit/TestKit",
            exclude: ["clone.sql"],
            swiftSettings: settings),
        .testTarget(
            name: "TestKitTests", dependencies: ["TestKit"], path: "Tests/Unit/TestKitTests", swiftSettings: settings),
        .target(
            name: "QuartetFunctions",
            dependencies: [
                "Bus", "LedgerContract", "LedgerRules", "Postgres", "QuartetContactsContract", "QuartetVocabulary",
            ],
            path: "Tests/Kit/Functions", swiftSettings: settings),
        .executableTarget(name: "package-graph", path: "Tests/Kit/PackageGraph", swiftSettings: settings),
        .testTarget(
            name: "PackageGraphTests", dependencies: ["TestKit", "package-graph"], path: "Tests/Unit/PackageGraphTests",
            swiftSettings: settings),
        .executableTarget(
            name: "proto-files", dependencies: ["SessionClientService"], path: "Tests/Kit/ProtoFiles",
            swiftSettings: settings),
        .target(
            name: "RPCClient",
            dependencies: ["EdgeClient", "QuartetGRPC", "QuartetProto", grpc, grpcProtobuf, grpcTransport, protobuf],
            path: "Tests/Kit/RPCClient", swiftSettings: settings),
        .target(
            name: "EdgeClient", dependencies: [crypto, httpClient, nio, nioHTTP, nioSSL],
            path: "Tests/Kit/EdgeClient", swiftSettings: settings),
        .target(
            name: "RawClient", dependencies: ["EdgeClient", "TestKit", nio, nioPosix, nioSSL, nioTLS],
            path: "Tests/Kit/RawClient", swiftSettings: settings),
        .target(
            name: "WebDriver", dependencies: ["EdgeClient", "TestKit", httpClient, nio, nioHTTP],
            path: "Tests/Kit/WebDriver", exclude: ["axe-core"], swiftSettings: settings),
        .executableTarget(
            name: "quartet-conformance",
            dependencies: [
                "QuartetAPI", "EdgeClient", "QuartetAsyncHTTP", "QuartetClient", "QuartetGRPC", "RPCClient",
                "QuartetSessionContract",
                "QuartetVocabulary", grpcTransport,
            ],
            path: "Tests/Conformance", swiftSettings: settings),
        .executableTarget(
            name: "demo", dependencies: ["EdgeClient", "Games", httpClient], path: "Tests/Demo", swiftSettings: settings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "QuartetAPI", "EdgeClient", "Games", "QuartetNotificationsContract", "Postgres", "QuartetAsyncHTTP",
                "QuartetClient", "QuartetGRPC",
                "RPCClient", "RawClient", "ServiceKit", "QuartetSessionContract", "TestKit", "QuartetVocabulary",
                "WebDriver",
                "contacts",
                "notifications", "offline-app", "quartet-conformance", "quartet-tui", "session", "session-client",
                crypto, grpcTransport, httpClient, httpTypes, hummingbird, logging, nio, nioHTTP, nioSSL,
            ],
            path: "Tests/System/Product", exclude: ["Clients", "Description"], swiftSettings: settings),
        .testTarget(
            name: "SchemaTests",
            dependencies: [
                "Bus", "QuartetAPI", "QuartetContactsContract", "ContactsService", "QuartetNotificationsContract",
                "NotificationsService", "Postgres", "QuartetSessionClientOrchestration",
                "ServiceKit", "SessionClientService", "QuartetSessionContract", "SessionService", "TestKit",
                "QuartetVocabulary",
            ],
            path: "Tests/System/Schema", exclude: ["Releases", "build-release.sh", "dump.sh"], swiftSettings: settings),
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "TestKit", "QuartetVocabulary"],
            path: "Tests/Unit/PostgresTests",
            swiftSettings: settings),
        .executableTarget(
            name: "postgres-benchmark", dependencies: ["Postgres", "QuartetVocabulary"],
            path: "Tests/Benchmarks/Postgres",
            exclude: ["libpq.c"],
            swiftSettings: settings),
        .testTarget(
            name: "BusTests", dependencies: ["Bus", "Postgres", "TestKit", "QuartetVocabulary"],
            path: "Tests/Unit/BusTests",
            swiftSettings: settings),
        .target(
            name: "LedgerContract", dependencies: ["QuartetVocabulary"], path: "Tests/Kit/Ledger/Contract",
            swiftSettings: settings),
        .target(
            name: "LedgerRules", dependencies: ["LedgerContract", "QuartetVocabulary"],
            path: "Tests/Kit/Ledger/Rules", swiftSettings: settings),
        .target(
            name: "LedgerService",
            dependencies: ["Bus", "LedgerContract", "LedgerRules", "Postgres", "Storage", "QuartetVocabulary"],
            path: "Tests/Kit/Ledger", exclude: ["Contract", "Edge", "Executable", "README.md", "Rules"],
            sources: ["Tables"], resources: [.copy("Migrations")], swiftSettings: settings),
        .executableTarget(
            name: "ledger", dependencies: ["LedgerService", "ServiceKit", "QuartetVocabulary"],
            path: "Tests/Kit/Ledger/Executable", swiftSettings: settings),
        .target(
            name: "LedgerEdge",
            dependencies: ["Bus", "LedgerContract", "Postgres", "QuartetVocabulary", logging, lifecycle],
            path: "Tests/Kit/Ledger/Edge", exclude: ["Executable"], resources: [.copy("Migrations")],
            swiftSettings: settings),
        .executableTarget(
            name: "ledger-client",
            dependencies: ["LedgerContract", "LedgerEdge", "Postgres", "ServiceKit", "QuartetVocabulary", logging],
            path: "Tests/Kit/Ledger/Edge/Executable", swiftSettings: settings),
        .executableTarget(
            name: "faulty-ledger",
            dependencies: [
                "Bus", "LedgerContract", "LedgerEdge", "LedgerRules", "LedgerService", "Postgres", "QuartetVocabulary",
                logging, lifecycle, signals,
            ],
            path: "Tests/Kit/FaultyLedger", swiftSettings: settings),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "Bus", "LedgerContract", "LedgerEdge", "LedgerRules", "LedgerService", "Postgres", "ServiceKit",
                "Storage",
                "StoreKit", "TestKit", "QuartetVocabulary", "faulty-ledger", "ledger", "ledger-client", logging,
            ],
            path: "Tests/System/Bus", swiftSettings: settings),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "QuartetAPI", "Bus", "QuartetContactsContract", "EdgeClient", "LedgerContract", "LedgerEdge",
                "LedgerService",
                "QuartetNotificationsContract", "Postgres", "QuartetAsyncHTTP", "QuartetClient", "QuartetStorage",
                "RPCClient", "RawClient", "ServiceKit", "QuartetSessionContract",
                "TestKit", "QuartetVocabulary", "WebDriver", httpClient, logging, lifecycle, nio, nioHTTP, nioPosix,
            ],
            path: "Tests/Benchmarks/Benchmark", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

// Only the package of micro-benchmarks sees it, Tests/Benchmarks/Functions: in an app's graph the bus's targets would take their
// names from the app's own.
if Context.environment["QUARTET_FUNCTIONS"] != nil {
    package.products.append(.library(name: "QuartetFunctions", targets: ["QuartetFunctions"]))
}
