import Testing

/// What an app must not be able to write. The compiler says why.
@Suite
struct ForbiddenTests {
    struct Snippet: Sendable {
        let title: String
        let text: String
        let message: String
    }

    private static let snippets = [
        Snippet(
            title: "making a state", text: "func f() { _ = ReadOnlyContactsState(nil) }",
            message: "'ReadOnlyContactsState' initializer is inaccessible due to 'fileprivate' protection level"),
        Snippet(
            title: "decoding a state",
            text: "func f(_ data: Data) throws { _ = try JSONDecoder().decode(ReadOnlyUserState.self, from: data) }",
            message: "requires that 'ReadOnlyUserState' conform to 'Decodable'"),
        Snippet(
            title: "assigning shared state",
            text: "func f(_ contacts: inout SharedState<ReadOnlyContactsState>) { contacts.isApprovalRequired = true }",
            message: "cannot assign"),
        Snippet(
            title: "replacing shared state",
            text:
                "func f(_ a: SharedState<ReadOnlyUserState>, _ b: ReadOnlyUserState) { _ = a.replace(b, Phase.ready) }",
            message: "has no dynamic member 'replace'"),
        Snippet(
            title: "changing through the lock",
            text: "func f(_ contacts: SharedState<ReadOnlyContactsState>) { contacts.watched.withLock { _ in } }",
            message: "has no dynamic member 'watched'"),
        Snippet(
            title: "reaching what a state is made of",
            text: "func f(_ state: ReadOnlyNotificationsState) { _ = state.state }",
            message: "'state' is inaccessible due to 'private' protection level"),
        Snippet(
            title: "forging a position",
            text: "func f() { var sequencer = StreamSequencer(); _ = sequencer.open() }",
            message: "cannot find 'StreamSequencer' in scope"),
        Snippet(
            title: "being a client's stream",
            text: "func f(_ connection: Connection) { connection.attach(0) }",
            message: "'attach' is inaccessible due to 'internal' protection level"),
    ]

    private static let allowed = """
        func f(_ quartet: Quartet) async throws {
            _ = quartet.contacts.contacts.responders
            try await quartet.contacts.sendPing(quartet.contacts.contacts.ids[0])
        }
        """

    @Test(
        "apps can't make, decode, assign or reach shared state, or forge a place in a stream: the compiler refuses (S1, P10)"
    )
    func forbidden() async throws {
        let texts = (Self.snippets.map(\.text) + [Self.allowed]).enumerated().map { index, text in
            // Each file has names of its own.
            "import Foundation\nimport QuartetClient\n\(text.replacing("func f(", with: "func f\(index)("))\n"
        }
        let errors = try await Compiler.errors(in: texts)
        for (snippet, errors) in zip(Self.snippets, errors) {
            #expect(
                errors.contains { $0.contains(snippet.message) },
                "\(snippet.title) compiled, or failed for another reason: \(errors)")
        }
        #expect(errors.last == [], "what apps may write doesn't compile")
    }
}
