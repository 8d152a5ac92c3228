import Benchmark
import QuartetFunctions

let benchmarks = { @Sendable in
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuUser], warmupIterations: 10, scalingFactor: .kilo, maxDuration: .seconds(2))

    for function in MeasuredFunction.all {
        var configuration = Benchmark.defaultConfiguration
        if function.isLong { configuration.scalingFactor = .one }
        Benchmark(function.name, configuration: configuration) { benchmark in
            try function.run(benchmark.scaledIterations.count)
        }
    }
}
