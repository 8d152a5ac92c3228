/// The console's ways in, as people go them.
extension Browser {
    /// Everybody's password.
    public static let password = "a long enough password"

    /// Makes an account by the wizard, and waits until its page is live.
    public func makeAccount(_ handle: String, name: String) async throws {
        try await go("/")
        try await click("Create an account")
        try await fill("Handle", handle)
        try await fill("Password", Self.password)
        try await click("Next")
        try await fill("Name", name)
        try await click("Create account")
        try await see("Remind me")
        try await click("Skip")
        try await see("Connected")
    }

    /// Signs in from the first page of a browser, or of a tab, that shows no account; and waits until the page is live.
    public func signIn(_ handle: String) async throws {
        try await click("Sign in")
        try await fill("Handle", handle)
        try await fill("Password", Self.password)
        try await click("Sign in")
        try await see("Are you all right")
        try await see("Connected")
    }

    /// Opens a page for operators, which asks for an API key.
    public func open(_ path: String, withKey key: String) async throws {
        try await go(path)
        try await fill("API key", key)
        try await click("Open")
    }
}
