// Asks the ledger from the command line. DATABASE_URL says where the database is.
//
//   ledger-client migrate                      bring schema ledger_client to this build's version
//   ledger-client id                           print a new command's ID
//   ledger-client post ACCOUNT N AMOUNT [ID]   post an entry, wait, and print the outcome; with the ID of an earlier
//                                              command, print that command's outcome and post nothing

import Foundation
import LedgerContract
import LedgerEdge
import Logging
import Postgres
import QuartetVocabulary
import ServiceKit

var logger = Logger(label: "ledger-client", factory: { StreamLogHandler.standardError(label: $0) })
logger.logLevel = .error
let database = Configuration(ProcessInfo.processInfo.environment["DATABASE_URL"] ?? "")
let words = Array(CommandLine.arguments.dropFirst())

switch words.first {
case "migrate" where words.count == 1:
    var configuration = database
    configuration.parameters["user"] = "quartet_migrator"
    let migrations = try MigrationSet(schema: "ledger_client", target: "LedgerEdge")
    try await Migrator(migrations, configuration: configuration, logger: logger).apply()

case "id" where words.count == 1: print(CommandID.new())

case "post" where (4...5).contains(words.count):
    guard let account = AccountID(words[1]), let n = Int64(words[2]), let amount = Int64(words[3]),
        let id = words.count == 5 ? CommandID(words[4]) : .new()
    else { refuse() }
    let client = try await LedgerClient(configuration: database, logger: logger)
    let outcome = try await client.run { client in
        try await client.post(
            PostEntry(client: "command line", n: n, amount: amount), for: account, id: id, mayBeRepeated: true)
    }
    switch outcome {
    case .accepted(let event?): print("accepted: the balance is \(try EntryPosted.decoded(from: event.body).balance)")
    case .accepted(nil): print("accepted")
    case .rejected(let rejection): print("rejected: \(rejection)")
    case .failed(let code): print("failed: \(code)")
    }

default: refuse()
}

func refuse() -> Never {
    FileHandle.standardError.write(Data("usage: ledger-client migrate | id | post ACCOUNT N AMOUNT [ID]\n".utf8))
    exit(64)
}
