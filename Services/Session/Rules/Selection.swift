package import QuartetSessionContract
package import QuartetVocabulary

extension SessionRows {
    /// The rows that a batch of commands may read or change.
    package struct Selection {
        package var accounts: Set<AccountID> = []
        /// Accounts whose timers decide that a check-in was missed.
        package var missing: Set<AccountID> = []
        /// Accounts whose timers decide that a trip was missed.
        package var missingTrips: Set<AccountID> = []
        /// Handles, reduced to what they look like.
        package var skeletons: Set<String> = []
        /// Accounts that prove a password.
        package var proving: Set<AccountID> = []
        /// Handles that prove a password.
        package var provingSkeletons: Set<String> = []
        /// Accounts whose security changes, so their present state is recorded.
        package var securing: Set<AccountID> = []
        /// Handles that sign in by a recovery code.
        package var recoveringSkeletons: Set<String> = []
        /// Accounts that undo security changes.
        package var undoing: Set<AccountID> = []
        /// Accounts whose devices are needed.
        package var signing: Set<AccountID> = []
        /// Phones that sign in.
        package var signingPhones: Set<PhoneID> = []
        /// Accounts whose phone codes are needed.
        package var coding: Set<AccountID> = []
        /// Accounts claiming the phone their code was sent to.
        package var changingPhone: Set<AccountID> = []
        package var attempts: Set<AttemptKey> = []
        package var uploads: Set<UploadKey> = []
        /// Group sessions.
        package var groups: Set<GroupID> = []
        /// Accounts that ask or are named, so their rows in group sessions are needed even if they are out.
        package var named: Set<AccountID> = []
        /// Group sessions that new accounts may come to.
        package var welcoming: Set<GroupID> = []
        /// Pairs of accounts, of which one doesn't invite the other any more.
        package var estranged: [(inviter: AccountID, invited: AccountID)] = []
        /// Pairs of accounts, of which one invites the other or doesn't any more.
        package var withdrawals: Set<WithdrawalKey> = []
        /// Group sessions whose connections are needed.
        package var connectedGroups: Set<GroupID> = []
        /// Group sessions whose games are needed.
        package var gaming: Set<GroupID> = []
        /// Group sessions that get messages, with how many each.
        package var messages: [GroupID: Int] = [:]
        /// Group sessions that may end.
        package var ending: Set<GroupID> = []
        /// Group sessions whose playback is needed.
        package var playing: Set<GroupID> = []
        /// Group sessions whose queues are needed.
        package var queueing: Set<GroupID> = []
        /// Group sessions whose attachments are needed.
        package var attaching: Set<GroupID> = []
        /// Accounts whose attachments in all group sessions are needed.
        package var uploaders: Set<AccountID> = []
        /// Chunks of attachments.
        package var chunks: Set<Chunks> = []
        /// Accounts that may enter a group session, so those that they are in are needed.
        package var newcomers: Set<AccountID> = []
        /// Accounts that change, or close, in all group sessions that they are in.
        package var followed: Set<AccountID> = []
        /// Edge processes that renew their lease.
        package var renewingEdges: Set<OwnerID> = []
        /// Edge processes whose lease ends.
        package var expiringEdges: Set<OwnerID> = []
        /// Group sessions and edge processes about whose absence timers decide.
        package var deciding: Set<Key> = []
        /// Edge processes that get a connection.
        package var connectingEdges: Set<OwnerID> = []
        /// Time zones that somebody chooses. Those that are chosen already are in accounts' rows.
        package var zones: Set<String> = []
        /// Whether the database's clock is needed.
        package var isTimed = false

        package init(_ requests: [Request<SessionCommand>]) {
            for request in requests {
                add(request.command, of: request.account)
                if let asker = request.account { named.insert(asker) }
            }
            proving.formUnion(securing)
            signing.formUnion(securing)
            coding.formUnion(undoing)
            accounts.formUnion(proving)
            accounts.formUnion(signing)
            accounts.formUnion(coding)
            skeletons.formUnion(provingSkeletons)
            skeletons.formUnion(recoveringSkeletons)
        }

        private mutating func add(_ command: SessionCommand, of asker: AccountID?) {
            switch command {
            case .group(let command): return add(command, of: asker)
            case .presence(let command): return add(command)
            case .game(let command): return add(command)
            case .message(let command): return add(command)
            case .playback(let command): return add(command)
            case .attachment(let command): return add(command, of: asker)
            default: break
            }
            let account = (command.body as? any OwnCommandBody)?.account ?? asker
            if let account { accounts.insert(account) }
            switch (command, account) {
            case (.signIn(let command), _): add(command)
            case (.account(let command), let account?): add(command, of: account)
            case (.device(let command), let account?): add(command, of: account)
            case (.security(let command), let account?): add(command, of: account)
            case (.phone(let command), let account?): add(command, of: account)
            case (.recovery(let command), let account?): add(command, of: account)
            case (.avatar(let command), let account?): add(command, of: account)
            case (.checkIn(.missCheckIn(let command)), _): missing.insert(command.account)
            case (.trip(.missTrip(let command)), _): missingTrips.insert(command.account)
            case (.alert(.raiseUnansweredAlert(let command)), _):
                missing.insert(command.account)
                isTimed = true
            case (.checkIn(.pauseCheckIns), let account?), (.drill(.runDrill), let account?): signing.insert(account)
            case (.checkIn(.setDailyCheckIns(let command)), _): zones.insert(command.zone)
            case (.checkIn(.reviewDailyCheckIns), _): isTimed = true
            // These need only the account's own row.
            case (.checkIn, _), (.alert, _), (.trip, _), (.drill, _): break
            // Above.
            case (.group, _), (.presence, _), (.game, _), (.message, _), (.playback, _), (.attachment, _): break
            // Rejected, for want of an account.
            case (_, nil): break
            }
        }

        mutating func count(_ subject: Key, _ source: SourceID, _ known: KnownDevice?) {
            attempts.insert(AttemptKey(subject))
            attempts.insert(AttemptKey(subject, source))
            if let known { attempts.insert(AttemptKey(subject, SourceID(known.device))) }
        }
    }
}
