package import QuartetContactsContract
package import QuartetVocabulary

extension ContactsRows {
    /// The rows that a batch of commands may read or change.
    package struct Selection {
        /// Accounts to lock: they change, or something begins or ends between them.
        package var changed: Set<AccountID> = []
        /// Accounts whose responders are counted. They must be locked.
        package var counted: Set<AccountID> = []
        /// Accounts whose dependents are locked, and these dependents' responders counted.
        package var spreading: Set<AccountID> = []
        /// Accounts whose dependents are only read.
        package var flipping: Set<AccountID> = []
        /// Accounts that are only read.
        package var named: Set<AccountID> = []
        /// Codes to look up: to find an account, or to check that they are free.
        package var codes: Set<ContactCode> = []
        /// Codes that commands of this batch assign, with their new owners.
        package var newCodes: [ContactCode: Set<AccountID>] = [:]
        /// Relations to lock.
        package var pairs: Set<Pair> = []
        /// Accounts that lose all their relations.
        package var closing: Set<AccountID> = []
        /// Accounts that answer all pings sent to them, also those that were found unanswered and then cancelled.
        package var answering: Set<AccountID> = []
        /// Accounts of whose pings it is decided whether they weren't answered in time.
        package var judging: Set<AccountID> = []
        /// Accounts whose responders are to be alerted.
        package var alerting: Set<AccountID> = []
        /// Accounts whose alarms are needed, with everyone alerted to them.
        package var alarming: Set<AccountID> = []
        /// Accounts whose responders may be told of an alarm, so that it matters whether they can be reached.
        package var telling: Set<AccountID> = []
        /// Accounts whose responders are only read.
        package var relaying: Set<AccountID> = []
        /// Accounts whose requests are needed.
        package var asking: Set<AccountID> = []
        /// Accounts whose whole block list is needed.
        package var blocking: Set<AccountID> = []
        /// Pairs that may become contacts.
        package var joining: Set<Pair> = []
        /// Accounts that may get another contact, so the ids of all their contacts are needed.
        package var growing: Set<AccountID> = []
        /// Whether the database's clock is needed.
        package var isTimed = false
        private var byCode: [(AccountID, ContactCode)] = []

        /// Whether codes must be resolved before the rest can be loaded.
        package var needsCodes: Bool { !byCode.isEmpty }

        package init(_ requests: [Request<ContactsCommand>]) {
            for request in requests {
                let own = request.command.body as? any OwnCommandBody
                guard let account = own?.account ?? request.account else { continue }
                add(request.command, of: account)
            }
            named.subtract(changed)
        }

        /// Resolves codes to their owners. A code that changes hands within the batch has several; all of them are
        /// loaded.
        package mutating func resolve(_ owners: [ContactCode: Set<AccountID>]) {
            for (account, code) in byCode {
                for other in owners[code, default: []] where other != account { join(account, other) }
            }
        }

        private mutating func add(_ command: ContactsCommand, of account: AccountID) {
            named.insert(account)
            switch command {
            case .account(let command): add(command, of: account)
            case .code(let command): add(command, of: account)
            case .request(let command): add(command, of: account)
            case .relation(let command): add(command, of: account)
            case .role(let command): add(command, of: account)
            case .ping(let command): add(command, of: account)
            case .alarm(let command): add(command, of: account)
            case .reach(let command): add(command, of: account)
            case .tier(let command): add(command, of: account)
            case .drill(let command): add(command, of: account)
            case .pingEscalation(let command): add(command, of: account)
            }
        }

        mutating func add(code: ContactCode, for account: AccountID) {
            changed.insert(account)
            codes.insert(code)
            newCodes[code, default: []].insert(account)
        }

        mutating func join(_ account: AccountID, _ other: AccountID) {
            changed.formUnion([account, other])
            counted.formUnion([account, other])
            asking.formUnion([account, other])
            growing.formUnion([account, other])
            alarming.formUnion([account, other])
            joining.insert(Pair(account, other))
            pairs.insert(Pair(account, other))
        }

        mutating func join(_ account: AccountID, _ code: ContactCode) {
            codes.insert(code)
            byCode.append((account, code))
        }

        /// A new responder is alerted to alarms that are on, so none may begin or end meanwhile.
        mutating func hear(_ account: AccountID, _ other: AccountID) {
            changed.formUnion([account, other])
            counted.formUnion([account, other])
            alarming.formUnion([account, other])
        }

        mutating func meet(_ account: AccountID, _ other: AccountID) {
            named.insert(other)
            pairs.insert(Pair(account, other))
        }
    }
}
