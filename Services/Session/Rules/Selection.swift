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
