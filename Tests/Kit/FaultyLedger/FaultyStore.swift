import Bus
import Foundation
import LedgerContract
import LedgerRules
import LedgerService
import Postgres
import QuartetVocabulary

/// The ledger's commands, an urgent one, and some that end what handles them.
enum FaultyCommand: MessageSet {
    case ledger(LedgerCommand)
    case endProcess(EndProcess)
    case endConnection(EndConnection)
    case postUrgently(PostUrgently)

    /// The release before refunds doesn't have that case.
    static let cases: Cases<Self> =
        ProcessInfo.processInfo.environment["LEDGER_RELEASE"] == "old"
        ? [Case { (entry: PostEntry) in .ledger(.postEntry(entry)) }, Case(Self.endProcess)]
        : [Case(Self.ledger), Case(Self.endProcess), Case(Self.endConnection), Case(Self.postUrgently)]

    var body: any CommandBody {
        switch self {
        case .ledger(let set): set.body
        case .endProcess(let body): body
        case .endConnection(let body): body
        case .postUrgently(let body): body
        }
    }
}

/// Crashes the process that handles it, as a defect in the rules would.
struct EndProcess: CommandBody {}

/// Ends the server's process that handles it, as a defect there would.
struct EndConnection: CommandBody {}

/// An entry that lives may depend on.
struct PostUrgently: CommandBody {
    static let isUrgent = true

    let entry: PostEntry
}

/// The ledger's rule, with the defect.
enum FaultyReducer: Reducer {
    static func reduce(
        _ rows: inout LedgerRows, _ command: FaultyCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<LedgerEvent>] {
        switch command {
        case .ledger(let command): try LedgerReducer.reduce(&rows, command, context)
        case .postUrgently(let command): try LedgerReducer.reduce(&rows, .postEntry(command.entry), context)
        case .endConnection: []
        case .endProcess: fatalError("a test asked for it")
        }
    }
}

/// The ledger's tables, under the faulty rule.
struct FaultyStore: Store {
    typealias Rules = FaultyReducer

    /// False writes balances only.
    let keepsEntries: Bool
    private let ledger = LedgerStore()

    init(keepsEntries: Bool) {
        self.keepsEntries = keepsEntries
    }

    func load(_ requests: [Request<FaultyCommand>], in pipeline: Pipeline) throws -> LedgerRows {
        let requests = requests.compactMap { request -> Request<LedgerCommand>? in
            switch request.command {
            case .ledger(let command): return Request(command, key: request.key, account: request.account)
            case .postUrgently(let command):
                return Request(.postEntry(command.entry), key: request.key, account: request.account)
            case .endConnection:
                pipeline.query("SELECT pg_terminate_backend(pg_backend_pid())")
                return nil
            case .endProcess: return nil
            }
        }
        return try ledger.load(requests, in: pipeline)
    }

    func save(_ rows: LedgerRows, in pipeline: Pipeline) throws {
        var rows = rows
        if !keepsEntries { rows.entries = WorkingSet() }
        try ledger.save(rows, in: pipeline)
    }
}
