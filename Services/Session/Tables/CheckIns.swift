import Bus
import Postgres
import QuartetSessionContract
import QuartetVocabulary

extension Pipeline {
    /// Types of commands that hold back what a timer decides.
    static var checkIns: [String] { [CheckIn.type] }
    static var tripCommands: [String] { [ExtendTrip.type, EndTrip.type] }

    func waitingCommands(_ types: [String], of accounts: Set<AccountID>) -> Pending? {
        waitingCommands(types, of: accounts, in: "session_client.session_commands", to: "session")
    }
}
