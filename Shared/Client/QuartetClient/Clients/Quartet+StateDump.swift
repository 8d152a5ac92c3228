extension Quartet {
    /// All shared state as text, for a report of something that went wrong: what the clients show, how the connection stands, and which
    /// changes wait to be sent. It has no token, no password, no contact code and no phone number, but what people wrote: ask its person
    /// before you send it anywhere.
    /// - Parameter connection: The one that the clients belong to.
    public func stateDump(_ connection: Connection) -> String {
        var text = ""
        func add(_ name: String, _ value: some Any) { dump(value, to: &text, name: name) }
        func addState<Value: Hashable & Sendable>(_ name: String, _ state: SharedState<Value>) {
            add("\(name).phase", state.phase)
            add(name, state.value)
        }
        add("connection", connection.state)
        add("connection.lastError", connection.lastError)
        add("connection.connectedSince", connection.connectedSince)
        add("connection.reconnectionCount", connection.reconnectionCount)
        add("connection.isNetworkConnected", connection.isNetworkConnected)
        add("connection.lastNetworkCheck", connection.lastNetworkCheck)
        // What a change says is the state that it shows.
        add("outbox", connection.outbox.items.value.map { "\($0.id) \($0.command) \($0.acted)" })
        addState("session", session.session)
        addState("user", user.user)
        addState("contacts", contacts.contacts)
        addState("notifications", notifications.notifications)
        addState("groups", groups.groups)
        addState("starting", groups.starting)
        return text
    }
}
