import QuartetAPI
import Testing

@testable import SessionClientService

@Suite("Session-client: the list of endpoints")
struct EndpointTests {
    private static let declarations = Endpoint.all.map(\.declaration) + HTTPEndpoint.all.map(\.declaration)

    @Test("every command and every operation that apps may send is an endpoint, and nothing else is (T22)")
    func families() {
        let names = { (family: Endpoint.Family) in
            Set(Self.declarations.filter { $0.family == family }.map(\.name))
        }
        #expect(names(.commands) == Set(appCommands.keys))
        #expect(names(.operations) == Set(appOperations.keys))
    }

    @Test("no two endpoints have the same name, or the same method and path")
    func unique() {
        #expect(Set(Self.declarations.map(\.name)).count == Self.declarations.count)
        #expect(Set(Self.declarations.map { "\($0.method) \($0.path)" }).count == Self.declarations.count)
    }

    @Test("the parameters of a path are those that its endpoint declares and reads", arguments: declarations.indices)
    func parameters(_ index: Int) {
        let declaration = Self.declarations[index]
        let inPath = declaration.path.matches(of: /\{(\w+)\}/).map { String($0.1) }
        let declared = declaration.parameters.filter { $0.place == .path }.map(\.name)
        #expect(inPath == declared, "\(declaration.name)")
    }

    @Test("what every endpoint is sent and answers has a schema", arguments: declarations.indices)
    func schemas(_ index: Int) throws {
        let declaration = Self.declarations[index]
        if case .json(let body)? = declaration.body { _ = try Schema(of: body) }
        for reply in declaration.replies {
            if case .json(let schema)? = reply.content { _ = try schema() }
        }
    }
}
