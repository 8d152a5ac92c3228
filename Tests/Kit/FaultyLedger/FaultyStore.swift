import Bus
import Foundation
import LedgerContract
import LedgerRules
import LedgerService
import Postgres
import Vocabulary

/// The ledger's commands, and one that crashes.
enum FaultyCommand: MessageSet {
    case ledger(LedgerCommand)
    case endProcess(EndProcess)

    /// The release before refunds doesn't have that case.
    static let cases: Cases<Self> =
        ProcessInfo.processInfo.environment["LEDGER_RELEASE"] == "old"
        ? [Case { (entry: PostEntry) in .ledger(.postEntry(entry)) }, Case(Self.endProcess)]
        : [Case(Self.ledger), Case(Self.endProcess)]

    var body: any CommandBody {
        switch self {
        case .ledger(let set): set.body
        case .endProcess(let body): body
        }
    }
}

/// Crashes the process that handles it, as a defect in the rules would.
struct EndProcess: CommandBody {}

/// The ledger's rule, with the defect.
enum FaultyReducer: Reducer {
    static func reduce(
        _ rows: inout LedgerRows, _ command: FaultyCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<LedgerEvent>] {
        switch command {
        case .ledger(let command): try LedgerReducer.reduce(&rows, command, context)
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
            guard case .ledger(let command) = request.command else { return nil }
            return Request(command, key: request.key, account: request.account)
        }
        return try ledger.load(requests, in: pipeline)
    }

    func save(_ rows: LedgerRows, in pipeline: Pipeline) throws {
        var rows = rows
        if !keepsEntries { rows.entries = WorkingSet() }
        try ledger.save(rows, in: pipeline)
    }
}
