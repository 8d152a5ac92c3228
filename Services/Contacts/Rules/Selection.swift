package import ContactsContract
package import Vocabulary

extension ContactsRows {
    /// Which rows the commands of a batch may touch.
    package struct Selection {
        /// Accounts that are changed, or between which something begins or ends: locked.
        package var changed: Set<AccountID> = []
        /// Accounts that are only looked at.
        package var named: Set<AccountID> = []
        /// Codes that lead to an account, or shall.
        package var codes: Set<ContactCode> = []
        /// Codes that commands of this batch give out.
        package var newCodes: [ContactCode: Set<AccountID>] = [:]
        /// Pairs whose relation is changed.
        package var pairs: Set<Pair> = []
        /// Accounts all of whose relations are ended.
        package var closing: Set<AccountID> = []
        /// Accounts all of whose waiting pings are answered.
        package var answering: Set<AccountID> = []
        /// Accounts with whose responders an alarm begins or is repeated.
        package var alerting: Set<AccountID> = []
        /// Accounts whose alarms are looked at, and who heard of them.
        package var alarming: Set<AccountID> = []
        /// Accounts whose responders are only looked at.
        package var relaying: Set<AccountID> = []
        /// Accounts whose requests are looked at.
        package var asking: Set<AccountID> = []
        /// Accounts all of whose blocks are looked at.
        package var blocking: Set<AccountID> = []
        /// Pairs that may become contacts.
        package var joining: Set<Pair> = []
        /// Accounts that may get another contact: all who are theirs are looked at.
        package var growing: Set<AccountID> = []
        private var byCode: [(AccountID, ContactCode)] = []

        /// Whether a code has to be looked up before the rest is known.
        package var needsCodes: Bool { !byCode.isEmpty }

        package init(_ requests: [Request<ContactsCommand>]) {
            for request in requests {
                guard let account = request.account else { continue }
                add(request.command, of: account)
            }
            named.subtract(changed)
        }

        /// Takes in whose the codes are. A code that changes hands in this batch has several owners; all are loaded.
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
            }
        }

        mutating func add(code: ContactCode, for account: AccountID) {
            changed.insert(account)
            codes.insert(code)
            newCodes[code, default: []].insert(account)
        }

        mutating func join(_ account: AccountID, _ other: AccountID) {
            changed.formUnion([account, other])
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

        /// Who begins to hear of alarms hears of those that are on: none may begin or end meanwhile.
        mutating func hear(_ account: AccountID, _ other: AccountID) {
            changed.formUnion([account, other])
            alarming.formUnion([account, other])
        }

        mutating func meet(_ account: AccountID, _ other: AccountID) {
            named.insert(other)
            pairs.insert(Pair(account, other))
        }
    }
}
