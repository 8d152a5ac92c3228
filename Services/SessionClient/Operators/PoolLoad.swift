import Metrics
import Postgres
import ServiceLifecycle

/// Reports how many connections each pool has open, and how many requests wait for one.
struct PoolLoad: Service {
    let pools: [String: Pool]

    func run() async throws {
        let gauges = pools.map { name, pool in
            (
                pool, Gauge(label: "quartet_pool_connections", dimensions: [("pool", name)]),
                Gauge(label: "quartet_pool_waiting", dimensions: [("pool", name)])
            )
        }
        try? await cancelWhenGracefulShutdown {
            while true {
                for (pool, open, waiting) in gauges {
                    open.record(pool.load.open)
                    waiting.record(pool.load.waiting)
                }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
