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
        func waiting(_ types: [String], of accounts: Set<AccountID>) -> Pending? {
            waitingCommands(types, of: accounts, in: "session_client.contacts_commands", to: "contacts")
        }
        let answers = waiting(Self.pingAnswers, of: Set(senders.map(\.0)))
        let cancellations = waiting(Self.pingCancellations, of: Set(senders.flatMap(\.1)))
        try flush()
        rows.waitingAnswers = try answers.waitingCommands()
        rows.waitingCancellations = try cancellations.waitingCommands()
    }
}
