import Postgres
import QuartetContactsContract
import QuartetVocabulary

extension Pipeline {
    /// Types of commands that hold back what is decided of unanswered pings.
    static var pingAnswers: [String] { [RespondToPing.type, RespondToAllPings.type, ClearReceivedPings.type] }
    static var pingCancellations: [String] { [CancelPing.type] }
}
