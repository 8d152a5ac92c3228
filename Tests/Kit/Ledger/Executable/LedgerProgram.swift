import LedgerService
import QuartetVocabulary
import ServiceKit

@main
struct LedgerProgram: DomainProgram {
    static let name = "ledger"
    static let summary = "What each account has: the example of a service on this bus."
    static let target = "LedgerService"
    static let commands = LogName(schema: "ledger_client", table: "ledger_commands")

    static func store(_ settings: Settings) -> LedgerStore { LedgerStore() }
}
