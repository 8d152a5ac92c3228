import QuartetContactsContract
package import QuartetNotificationsContract
package import QuartetVocabulary

/// When notifications says something, tell contacts.
package struct NotificationsPolicy: Policy {
    package let name: StaticString = "notifications"

    package init() {}

    /// Nearly everything. A type that this build doesn't know isn't among it.
    package let ignoredTypes = Set(NotificationsEvent.types.map { $0.type }).subtracting([PushTaken.type])

    package func commands(for event: NotificationsEvent, in message: RecordedMessage) -> [PolicyCommand] {
        guard case .pushTaken(let event) = event else { return [] }
        return [.tell(.contacts, RecordReached(), for: event.account)]
    }
}
