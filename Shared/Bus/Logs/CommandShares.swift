import QuartetVocabulary

/// Who may have how many commands without an outcome: a partition that stands still, or one account, uses up only its own share.
///
/// Urgent commands have a reserve beside that, an equal part of it for each partition, so that no crowd elsewhere takes it.
struct CommandShares: Sendable {
    /// A place among the commands without an outcome. Given back once.
    struct Place: Sendable {
        fileprivate let partition: Int
        fileprivate let key: Key
        fileprivate let account: AccountID?
        fileprivate let isReserved: Bool
    }

    fileprivate struct Count: Sendable {
        var all = 0
        var partitions: [Int]
        var keys: [Key: Int] = [:]
        var accounts: [AccountID: Int] = [:]
    }

    private let log: Log
    private let limit: Int
    private var ordinary: Count
    private var reserved: Count

    /// The most of one key, or of one account; 64 unless very many may wait.
    private var keyLimit: Int { max(64, limit / 64) }
    /// The most urgent ones of one key, or of one account, that the reserve takes.
    static let reservedKeyLimit = 8

    /// - Parameter limit: The most of all partitions, besides the reserve and each one's ``partitionFloor``.
    init(_ log: Log, limit: Int) {
        self.log = log
        self.limit = limit
        let none = [Int](repeating: 0, count: Int(log.partitionCount))
        (ordinary, reserved) = (Count(partitions: none), Count(partitions: none))
    }

    /// The most of one partition: a quarter of all. Of a limit so small that a quarter is of no use, up to eight.
    var partitionLimit: Int { max(limit / 4, min(limit, 8)) }

    /// How many one partition may have in any case, however much others that stand still have used up.
    var partitionFloor: Int { limit / 2 / Int(log.partitionCount) }

    /// The most urgent ones of one partition that the reserve takes: together half of the limit.
    var reservedPartitionLimit: Int { max(1, limit / 2 / Int(log.partitionCount)) }

    /// Takes a place for a command.
    /// - Throws: Which limit is reached.
    mutating func take(_ command: Message, isUrgent: Bool) throws(CommandLimit) -> Place {
        let partition = Int(log.partition(of: command.key).number)
        let (key, account) = (command.key, command.account)
        func place(isReserved: Bool) -> Place {
            Place(partition: partition, key: key, account: account, isReserved: isReserved)
        }
        let reached: CommandLimit
        if ordinary.of(key) >= keyLimit {
            reached = .key(keyLimit)
        } else if ordinary.of(account) >= keyLimit {
            reached = .account(keyLimit)
        } else if ordinary.partitions[partition] >= partitionLimit {
            reached = .partition(partitionLimit)
        } else if ordinary.all >= limit, ordinary.partitions[partition] >= partitionFloor {
            reached = .service(limit)
        } else {
            ordinary.change(place(isReserved: false), by: 1)
            return place(isReserved: false)
        }
        guard isUrgent, reserved.of(key) < Self.reservedKeyLimit, reserved.of(account) < Self.reservedKeyLimit,
            reserved.partitions[partition] < reservedPartitionLimit
        else { throw reached }
        reserved.change(place(isReserved: true), by: 1)
        return place(isReserved: true)
    }

    /// Gives a place back.
    mutating func give(_ place: Place) {
        if place.isReserved { reserved.change(place, by: -1) } else { ordinary.change(place, by: -1) }
    }
}

extension CommandShares.Count {
    fileprivate func of(_ key: Key) -> Int { keys[key, default: 0] }

    fileprivate func of(_ account: AccountID?) -> Int { account.map { accounts[$0, default: 0] } ?? 0 }

    fileprivate mutating func change(_ place: CommandShares.Place, by number: Int) {
        all += number
        partitions[place.partition] += number
        let ofKey = of(place.key) + number
        keys[place.key] = ofKey > 0 ? ofKey : nil
        guard let account = place.account else { return }
        let ofAccount = of(account) + number
        accounts[account] = ofAccount > 0 ? ofAccount : nil
    }
}

/// A limit on commands without an outcome.
package enum CommandLimit: Error, Hashable, Sendable, CustomStringConvertible {
    /// Of all commands to the service.
    case service(Int)
    /// Of one partition of the service's commands.
    case partition(Int)
    /// Of one key: an account, or a group session.
    case key(Int)
    /// Of one account, in all group sessions.
    case account(Int)
    /// Of rows that wait for the database.
    case database

    package var description: String {
        switch self {
        case .service(let count): "\(count) commands to this service have no answer yet, as many as may"
        case .partition(let count): "\(count) commands to this part of the service have no answer yet, as many as may"
        case .key(let count):
            "\(count) commands for the same account or group session have no answer yet, as many as may"
        case .account(let count): "\(count) commands of this account have no answer yet, as many as may"
        case .database: "too many commands wait for the database"
        }
    }
}
