/// Why a message failed, as far as one try can tell.
package struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// As in the columns `parked.cause` (except ``lost``) and `dead_letter.code`, and as the code of the outcome `failed`.
    package enum Code: String, Sendable, Hashable {
        /// The message asks for something that can't be done: the rules or a constraint refuse it each time.
        case error
        /// The database or its environment is in trouble. That passes, so no message is given up for it.
        case trouble
        /// A newer sender's message: this replica doesn't know its type, version or one of its words. Another replica
        /// may.
        case unknown
        /// The connection was lost each time it was tried alone. The message may be what ends the server's process, or the
        /// network may be bad, so no message is given up for it. In `parked.cause` this is trouble, with
        /// `ends_connections`.
        case lost
        /// It ended its owner as often as the limits allow.
        case crashed
        /// An operator gave it up.
        case discarded
    }

    package let code: Code
    package let description: String
    /// What a replica has to know to handle the message, if that is what was missing.
    package let needs: String?

    package init(_ code: Code, _ description: String, needs: String? = nil) {
        self.code = code
        self.description = description
        self.needs = needs
    }
}
