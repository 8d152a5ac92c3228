import Bus
import Logging
import Postgres
import QuartetSessionContract
import QuartetVocabulary
import ServiceKit
import ServiceLifecycle

/// Gives phones the names that the server's current key makes of their numbers, when another key made them. Nobody has to be
/// there for that, and the other key need not even be listed: the number is known to its account.
///
/// At its start and then seldom: while a key is put in front, replicas disagree which is the current one, and must not
/// undo each other's work all the time.
struct PhoneNames: Service {
    let pool: Pool
    let session: ServiceConnection
    let codes: PhoneCodes
    let clock: DatabaseClock
    let logger: Logger
    private static let interval: Duration = .seconds(3600)
    private static let afterTrouble: Duration = .seconds(30)
    private static let batch: Int64 = 100

    private struct Named {
        let account: AccountID
        let name: PhoneID
        let number: String?
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                var pause = Self.interval
                do {
                    let renamed = try await pass()
                    if renamed > 0 {
                        logger.notice(
                            "moved phones' ids to the current server key", metadata: ["phones": "\(renamed)"])
                    }
                } catch _ where Task.isCancelled {
                    throw CancellationError()
                } catch {
                    logger.notice("can't move phones' ids to the current server key", metadata: ["error": "\(error)"])
                    pause = Self.afterTrouble
                }
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Returns how many got another name.
    private func pass() async throws -> Int {
        var renamed: Set<AccountID> = []
        while true {
            let phones = try await others().filter { !renamed.contains($0.account) }
            guard !phones.isEmpty else { return renamed.count }
            for phone in phones {
                renamed.insert(phone.account)
                guard let number = phone.number.flatMap({ try? PhoneNumber($0) }) else { continue }
                let command = RenamePhone(
                    phone: phone.name, next: codes.id(of: number), key: codes.keys.current.version)
                _ = try await session.sender.send(
                    Message(
                        kind: .command, type: RenamePhone.type, version: RenamePhone.version,
                        key: .account(phone.account), account: phone.account, body: try command.encoded(),
                        commandID: .new(at: clock.now), timeToLive: .minutes(5)), mayBeRepeated: false)
            }
        }
    }

    /// Some phones whose names another key made.
    private func others() async throws -> [Named] {
        let version = codes.keys.current.version.description
        return try await pool.withConnection { database in
            // Two ranges of the index by keys, in its order.
            try database.query(
                """
                SELECT o.account, o.phone_id, s.state -> 'phone' ->> 'number'
                  FROM ((SELECT p.account, p.phone_id FROM session.phone AS p WHERE p.key < \(version)
                          ORDER BY p.key LIMIT \(Self.batch))
                        UNION ALL
                        (SELECT p.account, p.phone_id FROM session.phone AS p WHERE p.key > \(version)
                          ORDER BY p.key LIMIT \(Self.batch))) AS o
                  JOIN session.account_state AS s ON s.account = o.account
                """
            ).map {
                Named(
                    account: try $0.decode(0, as: AccountID.self), name: try $0.decode(1, as: PhoneID.self),
                    number: try $0.decode(2, as: String?.self))
            }
        }
    }
}
