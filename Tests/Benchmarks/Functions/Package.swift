// swift-tools-version: 6.1
import PackageDescription

// A package of its own: nobody who builds Quartet has to build what these need.
let package = Package(
    name: "function-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "quartet", path: "../../.."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Functions",
            dependencies: [
                // Quartet has it only with QUARTET_FUNCTIONS in the environment, as `make bench-functions` sets it.
                .product(name: "QuartetFunctions", package: "quartet"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Functions", plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
