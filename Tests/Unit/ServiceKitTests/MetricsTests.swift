import CoreMetrics
import ServiceKit
import Testing

@Suite("Metrics")
struct MetricsTests {
    @Test("are shown as Prometheus reads them: counters, gauges, histograms, labels escaped, one series per labels")
    func text() {
        let metrics = PrometheusMetrics()
        let labels = [("source", "a \"b\"\\c")]
        metrics.makeCounter(label: "things_total", dimensions: labels).increment(by: 2)
        metrics.makeCounter(label: "things_total", dimensions: labels).increment(by: 3)
        metrics.makeRecorder(label: "level", dimensions: [], aggregate: false).record(1.5)
        let timer = metrics.makeTimer(label: "took.seconds", dimensions: [("kind", "x")])
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(20_000_000_000)
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines.contains(#"things_total{source="a \"b\"\\c"} 5"#))
        #expect(lines.contains("level 1.5"))
        #expect(lines.contains("# TYPE took_seconds histogram"))
        #expect(lines.contains(#"took_seconds_bucket{kind="x",le="0.001"} 0"#))
        #expect(lines.contains(#"took_seconds_bucket{kind="x",le="0.0025"} 1"#))
        #expect(lines.contains(#"took_seconds_bucket{kind="x",le="+Inf"} 2"#))
        #expect(lines.contains(#"took_seconds_sum{kind="x"} 20.002"#))
        #expect(lines.contains(#"took_seconds_count{kind="x"} 2"#))
        #expect(lines.filter { $0.hasPrefix("things_total") }.count == 1)
    }
}
