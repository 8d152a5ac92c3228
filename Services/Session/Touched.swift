import Bus
import SessionContract
import Vocabulary

/// Which rows the commands of a batch may touch.
struct Touched {
    var accounts: Set<AccountID> = []
    /// Handles by what they look like.
    var skeletons: Set<String> = []
    /// Accounts that give a password.
    var proving: Set<AccountID> = []
    /// Handles that give a password.
    var provingSkeletons: Set<String> = []
    /// Accounts whose security changes: what is before is remembered.
    var securing: Set<AccountID> = []
    /// Handles that give a recovery code.
    var recoveringSkeletons: Set<String> = []
    /// Accounts that take changes of their security back.
    var undoing: Set<AccountID> = []
    /// Accounts whose devices are looked at.
    var signing: Set<AccountID> = []
    /// Phones whose owners sign in.
    var signingPhones: Set<PhoneID> = []
    /// Accounts whose phone codes are looked at.
    var coding: Set<AccountID> = []
    /// Accounts that get the phone which their code was sent to.
    var changingPhone: Set<AccountID> = []
    /// Where attempts are counted.
    var attempts: Set<AttemptPlace> = []
    /// Uploads that are named.
    var uploads: Set<UploadPlace> = []

    init(_ requests: [Request<SessionCommand>]) {
        for request in requests { take(request.command, of: request.account) }
        proving.formUnion(securing)
        signing.formUnion(securing)
        coding.formUnion(undoing)
        accounts.formUnion(proving)
        accounts.formUnion(signing)
        accounts.formUnion(coding)
        skeletons.formUnion(provingSkeletons)
        skeletons.formUnion(recoveringSkeletons)
    }

    private mutating func take(_ command: SessionCommand, of asker: AccountID?) {
        let account = (command.body as? any OwnCommandBody)?.account ?? asker
        if let account { accounts.insert(account) }
        switch (command, account) {
        case (.signIn(let command), _): take(command)
        case (.account(let command), let account?): take(command, of: account)
        case (.device(let command), let account?): take(command, of: account)
        case (.security(let command), let account?): take(command, of: account)
        case (.phone(let command), let account?): take(command, of: account)
        case (.recovery(let command), let account?): take(command, of: account)
        case (.avatar(let command), let account?): take(command, of: account)
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
