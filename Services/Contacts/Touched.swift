import Bus
import ContactsContract
import Vocabulary

/// Which rows the commands of a batch may touch.
struct Touched {
    /// Accounts that are changed, or between which something begins or ends: locked.
    var changed: Set<AccountID> = []
    /// Accounts that are only looked at.
    var named: Set<AccountID> = []
    /// Codes that lead to an account, or shall.
    var codes: Set<ContactCode> = []
    /// Codes that commands of this batch give out.
    var newCodes: [ContactCode: Set<AccountID>] = [:]
    /// Pairs whose relation is changed.
    var pairs: Set<Pair> = []
    /// Accounts all of whose relations are ended.
    var closing: Set<AccountID> = []
    /// Accounts all of whose waiting pings are answered.
    var answering: Set<AccountID> = []
    /// Accounts with whose responders an alarm begins or is repeated.
    var alerting: Set<AccountID> = []
    /// Accounts whose alarms are looked at, and who heard of them.
    var alarming: Set<AccountID> = []
    /// Accounts whose responders are only looked at.
    var relaying: Set<AccountID> = []
    /// Accounts whose requests are looked at.
    var asking: Set<AccountID> = []
    /// Accounts all of whose blocks are looked at.
    var blocking: Set<AccountID> = []
    /// Pairs that may become contacts.
    var joining: Set<Pair> = []
    /// Accounts that may get another contact: all who are theirs are looked at.
    var growing: Set<AccountID> = []
    private var byCode: [(AccountID, ContactCode)] = []

    /// Whether a code has to be looked up before the rest is known.
    var needsCodes: Bool { !byCode.isEmpty }

    init(_ requests: [Request<ContactsCommand>]) {
        for request in requests {
            guard let account = request.account else { continue }
            take(request.command, of: account)
        }
        named.subtract(changed)
    }

    /// Takes in whose the codes are. A code that changes hands in this batch has several owners; all are loaded.
    mutating func resolve(_ owners: [ContactCode: Set<AccountID>]) {
        for (account, code) in byCode {
            for other in owners[code, default: []] where other != account { join(account, other) }
        }
    }

    private mutating func take(_ command: ContactsCommand, of account: AccountID) {
        named.insert(account)
        switch command {
        case .account(let command): take(command, of: account)
        case .code(let command): take(command, of: account)
        case .request(let command): take(command, of: account)
        case .relation(let command): take(command, of: account)
        case .role(let command): take(command, of: account)
        case .ping(let command): take(command, of: account)
        case .alarm(let command): take(command, of: account)
        }
    }

    mutating func take(code: ContactCode, for account: AccountID) {
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
