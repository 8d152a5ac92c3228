import ContactsContract
import NotificationsContract
import Testing
import Vocabulary

@testable import SessionClientOrchestration

@Suite("Policies")
struct PolicyTests {
    @Test("contacts records whose push was taken; the policy reads nothing else of notifications' log (A16)")
    func pushTaken() throws {
        let (policy, account) = (NotificationsPolicy(), AccountID.new())
        let taken = PushTaken(account: account, at: .now)
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: PushTaken.type, key: .account(account), account: account, body: try taken.encoded()),
            recordedAt: .now)
        let commands = policy.commands(for: .pushTaken(taken), in: message)
        #expect(commands.count == 1)
        let command = try #require(commands.first)
        #expect(command.body is RecordReached && command.log == Domain.contacts.commands)
        #expect(command.key == .account(account) && command.account == account)
        // A type that a newer release adds isn't ignored: a replica that knows it decides.
        #expect(policy.ignoredTypes == Set(NotificationsEvent.types.map { $0.type }).subtracting(["PushTaken"]))
    }
}
