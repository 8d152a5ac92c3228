import QuartetAPI
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

/// Finds people by what isn't a secret, their handle or phone, as often as it is fair to try.
///
/// It never says whether it found anyone: if not, it returns an account that doesn't exist, so that the service answers for
/// both. A blocked person can't tell a block from an unknown handle, not even by how long the answer takes.
struct PeopleSearch: Sendable {
    let handles: Handles
    let phoneCodes: PhoneCodes
    /// Searches of an account.
    let byAccount: RateLimit<AccountID>
    /// Searches from an address, by all accounts together.
    let byAddress = RateLimit<String>(EdgeLimits.searchesOfAddress)
    /// Searches for one person from an address: many accounts can't crowd that person's requests.
    let byTarget = RateLimit<String>(EdgeLimits.searchesForPerson)

    enum Target: Sendable {
        case handle(Handle)
        case phone(PhoneNumber)
    }

    /// - Parameter command: The command that is about the person.
    /// - Throws: `tooManyLookUps`.
    func account(
        of target: Target, by caller: Caller, for command: CommandID, _ call: Call
    ) async throws -> AccountID {
        let (name, field) =
            switch target {
            case .handle(let handle): ("handle/\(handle)", "handle")
            case .phone(let number): ("phone/\(phoneCodes.id(of: number))", "phone")
            }
        guard byAccount.admit(caller.account), byAddress.admit(call.address) else {
            throw APIError(.tooManyLookUps, field: field, retryAfter: 60)
        }
        guard byTarget.admit("\(call.address) \(name)") else {
            throw APIError(
                .tooManyLookUps, "There were too many searches for this person; wait a while.", field: field,
                retryAfter: byTarget.pause)
        }
        let found: AccountID? =
            switch target {
            case .handle(let handle): try await handles.account(of: handle)
            case .phone(let number): try await handles.account(of: number, phoneCodes)
            }
        // The same for the same request, so that it can be sent again.
        return found ?? .derived(at: command.time ?? .now, from: Array("nobody".utf8), command.bytes)
    }
}
