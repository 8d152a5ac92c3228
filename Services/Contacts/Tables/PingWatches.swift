import Bus
import Postgres
import QuartetContactsContract
import QuartetContactsRules
import QuartetVocabulary

extension Pipeline {
    /// Types of commands that hold back what is decided of unanswered pings.
    static var pingAnswers: [String] { [RespondToPing.type, RespondToAllPings.type, ClearReceivedPings.type] }
    static var pingCancellations: [String] { [CancelPing.type] }

    /// Looks for what holds an alert back, of accounts with pings that are due. Those and the pings are locked by now.
    func loadWaiting(of accounts: Set<AccountID>, into rows: inout ContactsRows) throws {
        guard let clock = rows.clock else { return }
        let senders = accounts.map { ($0, rows.sendersOfDuePings(to: $0, at: clock)) }.filter { !$0.1.isEmpty }
        guard !senders.isEmpty else { return }
        let answers = waitingCommands(Self.pingAnswers, of: Set(senders.map(\.0)), to: "contacts")
        let cancellations = waitingCommands(Self.pingCancellations, of: Set(senders.flatMap(\.1)), to: "contacts")
        try flush()
        rows.waitingAnswers = try answers.waitingCommands()
        rows.waitingCancellations = try cancellations.waitingCommands()
    }
}
