import Metrics
import QuartetVocabulary

/// A consumer's measurements, labelled with the log that it reads. Only committed work counts.
struct ConsumerMetrics: Sendable {
    private let source: String
    private let seconds: Metrics.Timer
    private let size: Recorder
    private let messages: Counter
    private let turn = Gauge(label: "quartet_careful_turn_seconds")
    private let outcomes: [Outcome.Kind: Counter]
    private let behind: [Gauge]
    private let behindFor: [Gauge]
    private let parked: [Gauge]
    private let resting: [Gauge]

    init(source: Log) {
        let name = source.name.description
        self.source = name
        seconds = Metrics.Timer(label: "quartet_batch_seconds", dimensions: [("source", name)])
        size = Recorder(label: "quartet_batch_messages", dimensions: [("source", name)], aggregate: true)
        messages = Counter(label: "quartet_messages_handled_total", dimensions: [("source", name)])
        outcomes = Dictionary(
            uniqueKeysWithValues: [.accepted, .rejected, .failed].map { (kind: Outcome.Kind) in
                (
                    kind,
                    Counter(
                        label: "quartet_commands_total", dimensions: [("source", name), ("outcome", kind.rawValue)])
                )
            })
        func gauges(_ label: String) -> [Gauge] {
            source.partitions.map { Gauge(label: label, dimensions: [("source", name), ("partition", "\($0)")]) }
        }
        behind = gauges("quartet_lag_messages")
        behindFor = gauges("quartet_lag_seconds")
        parked = gauges("quartet_parked_keys")
        resting = gauges("quartet_partition_resting")
    }

    func committed(_ count: Int, _ appendings: [Appending], in duration: Duration) {
        seconds.recordNanoseconds(Int64(duration / .nanoseconds(1)))
        size.record(count)
        messages.increment(by: count)
        for message in appendings.lazy.flatMap(\.messages) {
            if let outcome = message.outcome { outcomes[outcome]?.increment() }
        }
    }

    func failed(_ failure: TransactionFailure) {
        Counter(
            label: "quartet_batch_failures_total", dimensions: [("source", source), ("failure", failure.label)]
        ).increment()
    }

    /// How long the process has been at the careful message that it tries now; zero if there is none.
    func turn(_ age: Duration) { turn.record(age / .seconds(1)) }

    /// A message became a dead letter.
    func gaveUp(isUrgent: Bool) { count("quartet_dead_letters_total", isUrgent) }

    /// A message that nobody would send again keeps failing, and is tried on by itself.
    func setAside(isUrgent: Bool) { count("quartet_messages_set_aside_total", isUrgent) }

    private func count(_ label: String, _ isUrgent: Bool) {
        Counter(label: label, dimensions: [("source", source), ("urgent", "\(isUrgent)")]).increment()
    }

    func lag(of partition: Partition, messages: Int64, seconds: Double, parked keys: Int, isResting: Bool) {
        behind[Int(partition.number)].record(messages)
        behindFor[Int(partition.number)].record(seconds)
        parked[Int(partition.number)].record(keys)
        resting[Int(partition.number)].record(isResting ? 1 : 0)
    }

    /// Another worker owns the partition now.
    func left(_ partition: Partition) { lag(of: partition, messages: 0, seconds: 0, parked: 0, isResting: false) }
}

extension TransactionFailure {
    fileprivate var label: String {
        switch self {
        case .fenced: "fenced"
        case .contention: "contention"
        case .failed(let fault): fault.code.rawValue
        case .connectionLost: "connection_lost"
        }
    }
}

struct DoorbellMetrics: Sendable {
    private let rings: [String: Counter]
    private let losses = Counter(label: "quartet_listener_losses_total")

    init(channels: some Sequence<String>) {
        rings = Dictionary(
            uniqueKeysWithValues: Set(channels).map {
                ($0, Counter(label: "quartet_doorbells_total", dimensions: [("channel", $0)]))
            })
    }

    func rang(_ channel: String) { rings[channel]?.increment() }
    func lost() { losses.increment() }
}

struct TailMetrics: Sendable {
    private let rows: Counter
    private let bodies: Counter
    private let subscribers: Gauge
    private let dropped: Counter

    init(log: LogName) {
        rows = Counter(label: "quartet_tail_rows_total", dimensions: [("log", log.description)])
        bodies = Counter(label: "quartet_tail_bodies_total", dimensions: [("log", log.description)])
        subscribers = Gauge(label: "quartet_subscribers", dimensions: [("log", log.description)])
        dropped = Counter(label: "quartet_subscribers_dropped_total", dimensions: [("log", log.description)])
    }

    func read(_ count: Int) { rows.increment(by: count) }
    /// A subscriber or observer wanted a row, so it was decoded.
    func decoded() { bodies.increment() }
    func serves(_ count: Int) { subscribers.record(count) }
    /// A subscriber's buffer was full.
    func fellBehind() { dropped.increment() }
}

struct JoinMetrics: Sendable {
    private let statements: Counter
    private let streams: Counter

    init(log: LogName) {
        statements = Counter(label: "quartet_join_statements_total", dimensions: [("log", log.description)])
        streams = Counter(label: "quartet_streams_joined_total", dimensions: [("log", log.description)])
    }

    func joined(_ count: Int) {
        statements.increment()
        streams.increment(by: count)
    }
}
