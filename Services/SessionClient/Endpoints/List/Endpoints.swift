extension Endpoint {
    /// Everything that can be asked over any transport, by subject. What only HTTP carries is listed with the reasons in
    /// ``HTTPEndpoint/all``.
    static let all: [Endpoint] =
        accounts + reads + groups + commandsOfContacts + commandsOfAccounts + commandsOfNotifications + commandsOfGroups
        + commandsOfPlayback + operations
}
