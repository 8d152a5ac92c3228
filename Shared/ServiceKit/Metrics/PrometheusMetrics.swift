package import CoreMetrics
import Synchronization

/// Keeps the process's metrics and shows them in Prometheus's text format 0.0.4.
///
/// A label becomes the metric's name, dimensions become labels. Timers become histograms in seconds, aggregating
/// recorders become histograms of their values, all others gauges.
package final class PrometheusMetrics: MetricsFactory, Sendable {
    private struct Family: Sendable {
        var kind: String
        /// By their labels as text.
        var series: [String: any Series] = [:]
    }

    private let families = Mutex<[String: Family]>([:])
    /// Bounds of histograms of times, in seconds.
    static let seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// Bounds of other histograms.
    static let sizes: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

    package init() {}

    /// In Prometheus's text format, sorted by name.
    package var text: String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                for line in series.lines {
                    let all = [labels, line.label].filter { !$0.isEmpty }.joined(separator: ",")
                    text += "\(name)\(line.suffix)\(all.isEmpty ? "" : "{\(all)}") \(Self.number(line.value))\n"
                }
            }
        }
        return text
    }

    // MARK: MetricsFactory

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, kind: "counter") { Count() }
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return series(label, dimensions, kind: "gauge") { Level() } }
        return series(label, dimensions, kind: "histogram") { Histogram(bounds: Self.sizes) }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, kind: "gauge") { Level() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, kind: "histogram") { Histogram(bounds: Self.seconds) }
    }

    /// Series are kept: they go on if somebody measures them again.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    // MARK: Private

    /// Finds or makes the series with this name and these labels.
    private func series<S: Series>(
        _ label: String, _ dimensions: [(String, String)], kind: String, _ make: () -> S
    ) -> S {
        let name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
        let labels = dimensions.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        return families.withLock { families in
            if let known = families[name]?.series[labels] as? S { return known }
            let made = make()
            families[name, default: Family(kind: kind)].series[labels] = made
            return made
        }
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}

/// A line of a series.
private struct Line {
    var suffix = ""
    var label = ""
    let value: Double
}

private protocol Series: Sendable {
    var lines: [Line] { get }
}

private final class Count: CounterHandler, Series {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.add(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }
    var lines: [Line] { [Line(value: Double(value.load(ordering: .relaxed)))] }
}

private final class Level: RecorderHandler, MeterHandler, Series {
    private let value = Mutex(0.0)

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    var lines: [Line] { [Line(value: value.withLock { $0 })] }
}

private final class Histogram: RecorderHandler, TimerHandler, Series {
    private struct State: Sendable {
        var counts: [Int64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    var lines: [Line] {
        let state = state.withLock { $0 }
        var lines: [Line] = []
        var below: Int64 = 0
        for (bound, count) in zip(bounds.map { "\($0)" } + ["+Inf"], state.counts) {
            below += count
            lines.append(Line(suffix: "_bucket", label: "le=\"\(bound)\"", value: Double(below)))
        }
        return lines + [Line(suffix: "_sum", value: state.sum), Line(suffix: "_count", value: Double(below))]
    }
}
