package import SessionContract
package import Vocabulary

extension SessionRows {
    /// Which rows the commands of a batch may touch.
    package struct Selection {
        package var accounts: Set<AccountID> = []
        /// Handles by what they look like.
        package var skeletons: Set<String> = []
        /// Accounts that give a password.
        package var proving: Set<AccountID> = []
        /// Handles that give a password.
        package var provingSkeletons: Set<String> = []
        /// Accounts whose security changes: what is before is remembered.
        package var securing: Set<AccountID> = []
        /// Handles that give a recovery code.
        package var recoveringSkeletons: Set<String> = []
        /// Accounts that take changes of their security back.
        package var undoing: Set<AccountID> = []
        /// Accounts whose devices are looked at.
        package var signing: Set<AccountID> = []
        /// Phones whose owners sign in.
        package var signingPhones: Set<PhoneID> = []
        /// Accounts whose phone codes are looked at.
        package var coding: Set<AccountID> = []
        /// Accounts that get the phone which their code was sent to.
        package var changingPhone: Set<AccountID> = []
        /// Where attempts are counted.
        package var attempts: Set<AttemptPlace> = []
        /// Uploads that are named.
        package var uploads: Set<UploadPlace> = []
        /// Group sessions.
        package var groups: Set<GroupID> = []
        /// Those of them whose connections are looked at.
        package var connectedGroups: Set<GroupID> = []
        /// Those of them whose games are looked at.
        package var gaming: Set<GroupID> = []
        /// Accounts that may be in one more group session: those that they are in are looked at.
        package var newcomers: Set<AccountID> = []
        /// Accounts that change, or are closed, in all group sessions that they are in.
        package var followed: Set<AccountID> = []
        /// Edge processes that say that they are alive.
        package var renewingEdges: Set<OwnerID> = []
        /// Edge processes whose lease ends.
        package var expiringEdges: Set<OwnerID> = []
        /// Edge processes that have a new connection.
        package var connectingEdges: Set<OwnerID> = []

        package init(_ requests: [Request<SessionCommand>]) {
            for request in requests { add(request.command, of: request.account) }
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
            // The account's own row is all that they need.
            case (.checkIn, _), (.alert, _): break
            // Above.
            case (.group, _), (.presence, _), (.game, _): break
            // Refused: somebody must ask.
            case (_, nil): break
            }
        }

        mutating func count(_ subject: Key, _ source: SourceID, _ known: KnownDevice?) {
            attempts.insert(AttemptPlace(subject))
            attempts.insert(AttemptPlace(subject, source))
            if let known { attempts.insert(AttemptPlace(subject, SourceID(known.device))) }
        }
    }
}
